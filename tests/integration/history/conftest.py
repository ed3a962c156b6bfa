"""A small watched world: one server, its profiles, and polls at chosen times."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.capture.snapshot import take
from driftwatch.db.engine import Database
from driftwatch.history.record import PolledProfile, Recorded, record
from driftwatch.scheduler.tables import ProfileState
from driftwatch.servers.tables import Profile, Server
from driftwatch.settings import Settings
from driftwatch.wire.facts import Era, EraFacts, Listing, Restart

#: long ago, so that every waiting time of the rules is over unless a test says otherwise
START = datetime(2026, 1, 1, 12, tzinfo=UTC)


@dataclass
class World:
    """Polls happen at ``START`` plus seconds and take 0.2 s."""

    db: Database
    server_id: int
    profiles: list[int]
    settings: Settings = field(default_factory=Settings)
    declared: bool = False

    @property
    def start(self) -> datetime:
        return START

    async def poll(self, at: float, tools: Sequence[dict[str, Any] | bytes], **more: Any) -> Recorded:
        async with self.db.transaction() as session:
            return await self.record_in(session, at, tools, **more)

    async def record_in(
        self,
        session: AsyncSession,
        at: float,
        tools: Sequence[dict[str, Any] | bytes],
        *,
        profile: int = 0,
        era: Era = Era.MODERN,
        fresh: bool = True,
        version: str = "1.0.0",
        notified: Sequence[float] = (),
        restarts: Sequence[float] = (),
        ttl_ms: int | None = None,
        start: datetime = START,
        session_replaced: bool = False,
        instructions: str | None = None,
        flaws: tuple[str, ...] = (),
    ) -> Recorded:
        entries = tuple(t if isinstance(t, bytes) else json.dumps(t).encode() for t in tools)
        sent = start + timedelta(seconds=at)
        listing = Listing(
            era=era,
            facts=EraFacts(
                era,
                "2026-07-28",
                {"name": "shop", "version": version},
                {"tools": {"listChanged": self.declared}},
                instructions,
            ),
            sent_at=sent,
            arrived_at=sent + timedelta(seconds=0.2),
            tools=entries,
            body_sha256=hashlib.sha256(b"\n".join(entries)).digest(),
            pages=1,
            size_bytes=sum(map(len, entries)),
            duration_ms=200,
            ttl_ms=ttl_ms,
            list_changed_at=tuple(start + timedelta(seconds=s) for s in notified),
            restarts=tuple(Restart(start + timedelta(seconds=s), "http-503") for s in restarts),
            session_replaced=session_replaced,
            flaws=flaws,
        )
        polled = PolledProfile(self.profiles[profile], fresh)
        return await record(session, polled, take(entries, era=era), listing, self.settings)

    async def hold(self, at: float, tools: Sequence[dict[str, Any] | bytes], **more: Any) -> list[int]:
        """Poll until it is believed: the ids of the changes."""
        changes: list[int] = []
        for later in (0, 2, 70):
            changes += (await self.poll(at + later, tools, **more)).changes
        return changes


@pytest.fixture
async def world(db: Database) -> World:
    async with db.transaction() as session:
        server = Server(name="shop", url="https://shop.test/mcp")
        session.add(server)
        await session.flush()
        assert server.id is not None
        profiles = []
        for era in (Era.MODERN, Era.LEGACY):
            profile = Profile(server_id=server.id, era=era, client_capabilities={})
            session.add(profile)
            await session.flush()
            assert profile.id is not None
            session.add(ProfileState(profile_id=profile.id, host="shop.test:443"))
            profiles.append(profile.id)
    return World(db, server.id, profiles)
