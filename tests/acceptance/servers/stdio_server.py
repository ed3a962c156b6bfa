"""Over stdio, mcp 1.x FastMCP (legacy) or mcp 2.x MCPServer (both eras): ``stdio_server.py CONTROL [--listen]``.

The file CONTROL holds the flags of the deployment. When it changes, the tools change in the running process; with the
flag ``notify`` the server says so, with ``exit`` it ends. ``--listen``: it declares that it announces changes.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import contracts

parser = argparse.ArgumentParser()
parser.add_argument("control", type=Path)
parser.add_argument("--listen", action="store_true")
options = parser.parse_args()
sessions: list[Any] = []
served: list[str] = []

try:
    from mcp.server import MCPServer
    from mcp.server.subscriptions import InMemorySubscriptionBus, ToolsListChanged

    bus = InMemorySubscriptionBus()
    server: Any = MCPServer("orders", subscriptions=bus if options.listen else False)

    async def announce() -> None:
        await bus.publish(ToolsListChanged())

except ImportError:
    from mcp.server.fastmcp import FastMCP
    from mcp.server.lowlevel import NotificationOptions

    class Orders(FastMCP):
        async def list_tools(self) -> Any:
            sessions[:] = [self.get_context().session]
            return await super().list_tools()

    server = Orders("orders")
    if options.listen:
        says = server._mcp_server.create_initialization_options
        server._mcp_server.create_initialization_options = lambda: says(NotificationOptions(tools_changed=True))

    async def announce() -> None:
        for session in sessions:
            await session.send_tool_list_changed()


def flags() -> frozenset[str]:
    return frozenset(filter(None, options.control.read_text().strip().split(",")))


def deploy(wanted: frozenset[str]) -> None:
    for name in served:
        server.remove_tool(name)
    served.clear()
    for name, description, function in contracts.tools(wanted):
        server.add_tool(function, name=name, description=description)
        served.append(name)


async def follow(known: frozenset[str]) -> None:
    while True:
        await asyncio.sleep(0.05)
        if (wanted := flags()) != known:
            known = wanted
            if "exit" in wanted:
                os._exit(3)
            deploy(wanted)
            if "notify" in wanted:
                await announce()


async def main() -> None:
    print("secret words on standard error", file=sys.stderr)
    deploy(flags() - {"exit"})
    following = asyncio.create_task(follow(flags()))
    await server.run_stdio_async()
    following.cancel()


asyncio.run(main())
