"""SQL of the search: keeps which tool has which field, and finds tools, fields and changes by what people type."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import Text, func, type_coerce
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.capture.model import ToolDefinition
from driftwatch.db.stored import row_id
from driftwatch.db.types import escape
from driftwatch.history.field_names import field_names
from driftwatch.history.search_tables import FieldName, ToolField
from driftwatch.history.search_views import ToolHit
from driftwatch.history.tables import Tool
from driftwatch.servers.tables import Profile, Server

#: names looked into for one question; more than a person reads
MAX_NAMES: Final = 40


async def index(session: AsyncSession, tools: Iterable[tuple[int, ToolDefinition]]) -> None:
    """Remember the fields of these definitions. What a tool once had stays findable."""
    fields = {(tool_id, *place) for tool_id, one in tools for place in field_names(one)}
    if not fields:
        return
    names = sorted({name for _, _, name in fields})
    # in order of name, so that two polls never wait for each other crosswise
    await session.exec(insert(FieldName).on_conflict_do_nothing(), params=[{"name": name} for name in names])
    rows = (await session.exec(select(FieldName.name, FieldName.id).where(col(FieldName.name).in_(names)))).all()
    ids = {name: row_id(key) for name, key in rows}
    known = [{"tool_id": tool_id, "field_id": ids[name], "part": part} for tool_id, part, name in sorted(fields)]
    await session.exec(insert(ToolField).on_conflict_do_nothing(), params=known)


async def find_tools(session: AsyncSession, words: str, *, limit: int = 20) -> list[ToolHit]:
    """Tools whose name has the words; exact names first, then those that begin with them, then by name."""
    name = func.lower(type_coerce(col(Tool.name), Text))
    query = _hits().where(name.like(pattern(words))).order_by(*_nearest(name, words), col(Tool.id)).limit(limit)
    return [ToolHit(*row) for row in (await session.execute(query)).all()]


async def find_fields(session: AsyncSession, words: str, *, limit: int = 20) -> list[ToolHit]:
    """Tools with a field whose name has the words; exact names first."""
    name = func.lower(type_coerce(col(FieldName.name), Text))
    chosen = select(FieldName.id, FieldName.name).where(name.like(pattern(words)))
    names = (await session.exec(chosen.order_by(*_nearest(name, words)).limit(MAX_NAMES))).all()
    rank = {row_id(key): place for place, (key, _) in enumerate(names)}
    query = (
        _hits()
        .add_columns(col(ToolField.part), col(FieldName.name), col(FieldName.id))
        .join(ToolField, col(ToolField.tool_id) == col(Tool.id))
        .join(FieldName, col(FieldName.id) == col(ToolField.field_id))
        .where(col(ToolField.field_id).in_(rank))
        .order_by(func.array_position(list(rank), col(ToolField.field_id)), col(Tool.id), col(ToolField.part))
        .limit(limit)
    )
    return [ToolHit(*row[:7]) for row in (await session.execute(query)).all()]


def pattern(words: str) -> str:
    """A LIKE pattern for text that holds the words, compared in lower case."""
    text = escape(words.lower()).replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{text}%"


def _nearest(name: Any, words: str) -> tuple[Any, ...]:
    wanted = escape(words.lower())
    return (name == wanted).desc(), name.startswith(wanted, autoescape=True).desc(), func.length(name), name


def _hits() -> Any:
    return (
        select(Tool.id, Tool.name, Server.id)
        .add_columns(col(Server.name), col(Profile.era))
        .join(Profile, col(Profile.id) == col(Tool.profile_id))
        .join(Server, col(Server.id) == col(Profile.server_id))
        .where(col(Server.state) != "deleted", col(Profile.closed_at).is_(None))
    )
