"""What the real Python client makes of tool lists: mcp 1.x or 2.x, whichever is installed. ``list_clients.py URL…``

JSON on stdout: ``{client: [names, or null where the whole list is lost, …]}``, in the order of the URLs.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys

import mcp


async def names(url: str) -> list[str]:
    if hasattr(mcp, "Client"):
        async with mcp.Client(url) as client:
            return [tool.name for tool in (await client.list_tools()).tools]
    from mcp.client.streamable_http import streamablehttp_client

    async with streamablehttp_client(url) as (read, write, _), mcp.ClientSession(read, write) as session:
        await session.initialize()
        return [tool.name for tool in (await session.list_tools()).tools]


async def names_or_none(url: str) -> list[str] | None:
    try:
        return await names(url)
    except Exception:
        return None


async def main() -> None:
    logging.disable(logging.CRITICAL)
    client = "py2 modern" if hasattr(mcp, "Client") else "py1"
    print(json.dumps({client: [await names_or_none(url) for url in sys.argv[1:]]}))


asyncio.run(main())
