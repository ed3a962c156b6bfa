"""Judged changes straight in the tables: what the other rooms would have written."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import select, text, update
from sqlmodel import col

from driftwatch.alerts import lifecycle
from driftwatch.alerts.tables import Alert, AlertEvent, Decision, DeliveryAttempt, Outbox
from driftwatch.db.engine import Database
from driftwatch.history.evidence import JudgementRow
from driftwatch.history.tables import (
    Assessment,
    Blob,
    Change,
    ChangePart,
    Changeset,
    Finding,
    Tool,
    ToolInterval,
    ToolVersion,
)
from driftwatch.scheduler.tables import ProfileState
from driftwatch.servers.secrets import SecretBox
from driftwatch.servers.tables import Profile, Server
from driftwatch.settings import Settings


@dataclass
class Watched:
    """A server with its profiles, by era."""

    id: int
    profiles: dict[str, int]
    tools: dict[tuple[str, str], int] = field(default_factory=dict)


@dataclass
class Services:
    """The part of the services that deliveries need."""

    db: Database
    settings: Settings
    secrets: SecretBox


class World:
    """Writes what the other rooms would have written."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.db = services.db

    async def server(
        self, name: str = "orders", *, mode: str = "follow", eras: tuple[str, ...] = ("modern",)
    ) -> Watched:
        async with self.db.transaction() as session:
            server = Server(name=name, url=f"https://{name}.test/mcp", mode=mode, owner="payments", interval_seconds=60)
            session.add(server)
            await session.flush()
            assert server.id is not None
            profiles = {era: Profile(server_id=server.id, era=era) for era in eras}
            session.add_all(profiles.values())
            await session.flush()
            ids = {era: profile.id for era, profile in profiles.items() if profile.id is not None}
            session.add_all(ProfileState(profile_id=i, host=f"{name}.test:443", state="ok") for i in ids.values())
            return Watched(server.id, ids)

    async def change(
        self,
        server: Watched,
        tool: str = "get_order",
        old: int | None = 1,
        new: int | None = 2,
        *,
        verdict: str = "breaking",
        part: str = "output",
        said: str = "`status` may now be null",
        announcement: str | None = "silent",
        state: str = "judged",
        changeset: int | None = None,
        era: str = "modern",
        age: float = 60,
        facts: dict[str, Any] | None = None,
    ) -> int:
        """A change of a tool; its id. ``age``: seconds since it was recorded."""
        at = datetime.now(UTC) - timedelta(seconds=age)
        start, end = at - timedelta(seconds=30), at
        kind = "added" if old is None else "removed" if new is None else "changed"
        async with self.db.transaction() as session:
            tool_id = await self._tool(session, server, era, tool)
            ids = {n: await self._version(session, tool_id, tool, n) for n in (old, new) if n is not None}
            await self._current(session, tool_id, ids.get(new) if new is not None else None, end)
            if changeset is None:
                row = Changeset(server_id=server.id, first_window_start=start, last_window_end=end)
                session.add(row)
                await session.flush()
                changeset = row.id
            change = Change(
                changeset_id=changeset,
                server_id=server.id,
                profile_id=server.profiles[era],
                tool_id=tool_id,
                kind=kind,
                from_version_id=None if old is None else ids[old],
                to_version_id=None if new is None else ids[new],
                window_start=start,
                window_end=end,
                facts=facts or {},
                state=state,
                recorded_at=at,
                verdict=verdict,
                via="declared" if verdict == "breaking" else None,
                part=part,
                announcement=announcement,
                announcement_reason="not-declared" if announcement == "silent" else None,
            )
            session.add(change)
            await session.flush()
            assert change.id is not None
            await self._assess(session, change, part, verdict, said)
            return change.id

    def body(self, tool: str, number: int) -> bytes:
        """The canonical definition of a version."""
        return f"{tool} {number}".encode("utf-8", "surrogatepass")

    def part_shas(self, body: bytes) -> dict[str, str]:
        """The digests of its parts, as history stores them."""
        return {}

    async def _tool(self, session: Any, server: Watched, era: str, name: str) -> int:
        if (era, name) not in server.tools:
            tool = Tool(profile_id=server.profiles[era], name=name)
            session.add(tool)
            await session.flush()
            server.tools[era, name] = tool.id or 0
        return server.tools[era, name]

    async def _version(self, session: Any, tool_id: int, tool: str, number: int) -> int:
        query = select(ToolVersion).where(col(ToolVersion.tool_id) == tool_id, col(ToolVersion.number) == number)
        found = (await session.scalars(query)).one_or_none()
        if found is None:
            body = self.body(tool, number)
            sha = hashlib.sha256(body).digest()
            if await session.get(Blob, sha) is None:
                session.add(Blob(sha256=sha, body=body))
                await session.flush()
            found = ToolVersion(
                tool_id=tool_id, number=number, definition_sha=sha, part_shas=self.part_shas(body), semantic_shas={}
            )
            session.add(found)
            await session.flush()
        version: int = found.id
        return version

    async def _current(self, session: Any, tool_id: int, version: int | None, at: datetime) -> None:
        still = (col(ToolInterval.tool_id) == tool_id) & col(ToolInterval.valid_to).is_(None)
        await session.execute(update(ToolInterval).where(still).values(valid_to=at))
        session.add(ToolInterval(tool_id=tool_id, version_id=version, valid_from=at))

    async def _assess(self, session: Any, change: Change, part: str, verdict: str, said: str) -> None:
        assessment = Assessment(change_id=change.id or 0, classifier_version="test")
        session.add(assessment)
        await session.flush()
        broken = verdict == "breaking" and change.kind == "changed"
        row = ChangePart(
            assessment_id=assessment.id or 0,
            part=part,
            verdict=verdict,
            via="declared" if verdict == "breaking" else None,
            witness={"value": {"status": None}} if broken else None,
        )
        session.add(row)
        await session.flush()
        level = "annotation" if part == "text" else "breaking" if verdict == "breaking" else "info"
        session.add(
            Finding(change_part_id=row.id or 0, rule="r", pointer="", level=level, effect="widens", message=said)
        )
        if change.announcement is not None:
            session.add(
                JudgementRow(
                    change_id=change.id or 0,
                    announcement=change.announcement,
                    reason=change.announcement_reason,
                    rule=3,
                    evidence={},
                )
            )

    async def raise_due(self) -> list[int]:
        async with self.db.transaction() as session:
            return await lifecycle.raise_due(session, self.services.settings)

    async def all(self, table: type[Any]) -> list[Any]:
        async with self.db.transaction() as session:
            return list((await session.scalars(select(table).order_by(col(table.id)))).all())

    async def alerts(self) -> list[Alert]:
        return await self.all(Alert)

    async def events(self, alert: int | None = None) -> list[str]:
        rows: list[AlertEvent] = await self.all(AlertEvent)
        return [e.kind for e in rows if alert in (None, e.alert_id)]

    async def outbox(self) -> list[Outbox]:
        return await self.all(Outbox)

    async def decisions(self) -> list[Decision]:
        return await self.all(Decision)

    async def attempts(self) -> list[DeliveryAttempt]:
        return await self.all(DeliveryAttempt)

    async def sql(self, statement: str, **parameters: Any) -> None:
        async with self.db.engine.begin() as connection:
            await connection.execute(text(statement), parameters)

    async def changeset_of(self, change: int) -> int:
        async with self.db.transaction() as session:
            return (await session.get_one(Change, change)).changeset_id
