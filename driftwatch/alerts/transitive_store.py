"""SQL of transitive mode for single tools: what people chose, by tool name, for every profile of a server."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col, delete, select
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts.route_tables import TransitiveChoice
from driftwatch.errors import NotFoundError
from driftwatch.history.tables import Tool
from driftwatch.servers.tables import Profile


async def choices(session: AsyncSession, server_id: int) -> Mapping[str, bool]:
    """The tools of a server that do not do as the server does, and whether they are in transitive mode."""
    query = select(TransitiveChoice).where(col(TransitiveChoice.server_id) == server_id)
    return {row.tool: row.transitive for row in (await session.exec(query)).all()}


async def named(session: AsyncSession, tool_id: int) -> tuple[int, str]:
    """The server and the name of a tool. Raises NotFoundError."""
    query = (
        select(Profile.server_id, Tool.name)
        .join(Profile, col(Profile.id) == col(Tool.profile_id))
        .where(col(Tool.id) == tool_id)
    )
    row = (await session.exec(query)).one_or_none()
    if row is None:
        raise NotFoundError(f"There is no tool {tool_id}.", hint="Look at the tools of a server.")
    return row


async def choose(session: AsyncSession, server_id: int, tool: str, transitive: bool | None) -> None:
    """Keep the choice; None: the tool does as its server does."""
    if transitive is None:
        chosen = (col(TransitiveChoice.server_id) == server_id) & (col(TransitiveChoice.tool) == tool)
        await session.exec(delete(TransitiveChoice).where(chosen))
        return
    query = insert(TransitiveChoice).values(server_id=server_id, tool=tool, transitive=transitive)
    await session.execute(
        query.on_conflict_do_update(index_elements=["server_id", "tool"], set_={"transitive": transitive})
    )
