"""Servers and profiles in the database, without a wire."""

from __future__ import annotations

from typing import Protocol

import pytest
from sqlalchemy import text

from driftwatch.db.engine import Database, run_sql
from driftwatch.scheduler.tables import ProfileState
from driftwatch.servers.tables import Profile, Server


class Seed(Protocol):
    async def __call__(
        self, name: str, *, eras: tuple[str, ...] = ("modern",), host: str = "example.test:443", due_in: float = -1
    ) -> list[int]: ...


@pytest.fixture
def seed(db: Database) -> Seed:
    """Register a server straight in the tables; answers its profile ids. ``due_in``: seconds from now."""

    async def _seed(
        name: str, *, eras: tuple[str, ...] = ("modern",), host: str = "example.test:443", due_in: float = -1
    ) -> list[int]:
        async with db.transaction() as session:
            server = Server(name=name, url=f"https://{host}/mcp", interval_seconds=60)
            session.add(server)
            await session.flush()
            assert server.id is not None
            profiles = [Profile(server_id=server.id, era=era) for era in eras]
            session.add_all(profiles)
            await session.flush()
            ids = [p.id for p in profiles if p.id is not None]
            session.add_all(ProfileState(profile_id=i, host=host) for i in ids)
            await session.flush()
            due = text(
                "UPDATE profile_state SET next_due_at = now() + make_interval(secs => :s) WHERE profile_id = ANY(:i)"
            )
            await run_sql(session, due, {"s": due_in, "i": ids})
        return ids

    return _seed
