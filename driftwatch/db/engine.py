"""The connection pool and the one way to a transaction."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from sqlalchemy import CursorResult, TextClause
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlmodel.ext.asyncio.session import AsyncSession

#: procrastinate's tables live in the schema ``jobs``; with public first our own tables never land there
SEARCH_PATH = "public,jobs"


def driver_url(url: str) -> str:
    """The SQLAlchemy form of a postgresql:// URL: psycopg 3 as the driver."""
    for scheme in ("postgresql+psycopg://", "postgresql://", "postgres://"):
        if url.startswith(scheme):
            return "postgresql+psycopg://" + url.removeprefix(scheme)
    return url


class Database:
    """A pool of connections. Transactions begin and end at the edge: request handlers and jobs, never services."""

    def __init__(self, url: str, *, application_name: str = "driftwatch", pool_size: int = 10) -> None:
        self.url = url
        self.engine: AsyncEngine = create_async_engine(
            driver_url(url),
            pool_size=pool_size,
            max_overflow=pool_size,
            pool_pre_ping=True,
            hide_parameters=True,  # an error message is logged; secrets and server bytes are not
            connect_args={"options": f"-csearch_path={SEARCH_PATH}", "application_name": application_name},
        )

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncSession]:
        """One transaction: committed at the end of the block, rolled back when it raises."""
        async with AsyncSession(self.engine, expire_on_commit=False) as session, session.begin():
            yield session

    async def dispose(self) -> None:
        """Close every pooled connection."""
        await self.engine.dispose()


async def raw_connection(session: AsyncSession) -> psycopg.AsyncConnection[Any]:
    """The psycopg connection below a session, for procrastinate's SQL (its ``%`` breaks exec_driver_sql)."""
    connection = await session.connection()
    raw = await connection.get_raw_connection()
    driver = raw.driver_connection
    if not isinstance(driver, psycopg.AsyncConnection):
        raise TypeError(f"expected a psycopg connection, got {type(driver).__name__}")
    return driver


async def run_sql(
    session: AsyncSession, statement: TextClause, parameters: Mapping[str, Any] | None = None
) -> CursorResult[Any]:
    """Run SQL text in the session's transaction, pending objects first (SQLModel's ``exec`` takes no text)."""
    await session.flush()
    return await (await session.connection()).execute(statement, parameters)
