from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import text

from driftwatch.app import Services


@pytest.fixture
def free_url() -> Iterator[str]:
    """An address where nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}/mcp"


@pytest.fixture
def query(services: Services) -> Callable[..., Awaitable[list[dict[str, Any]]]]:
    """Run SQL and answer its rows."""

    async def _query(statement: str, **parameters: object) -> list[dict[str, Any]]:
        async with services.db.engine.begin() as connection:
            return [dict(row) for row in (await connection.execute(text(statement), parameters)).mappings()]

    return _query
