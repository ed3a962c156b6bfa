"""What the real Python client does: mcp 1.x or 2.x, whichever is installed.

JSON on stdin: ``[{era, schema, value?, absent?}, …]``; JSON on stdout: ``[{refuses, message}, …]``. Each evaluation
has its own session and, over memory streams, a server that says exactly what it is told.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
from jsonschema import SchemaError
from mcp import ClientSession
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage

try:
    from mcp_types import jsonrpc_message_adapter

    read_message = jsonrpc_message_adapter.validate_python
except ImportError:
    from mcp.types import JSONRPCMessage

    read_message = JSONRPCMessage.model_validate

LEGACY, MODERN = "2025-11-25", "2026-07-28"
INFO = {"name": "evaluation", "version": "1"}


def replies(question: dict[str, Any]) -> dict[str, dict[str, Any]]:
    call: dict[str, Any] = {"content": []}
    if not question.get("absent"):
        call["structuredContent"] = question["value"]
    tools = [{"name": "judged", "inputSchema": {"type": "object"}, "outputSchema": question["schema"]}]
    cached = {"ttlMs": 0, "cacheScope": "private"}
    modern: dict[str, Any] = {"resultType": "complete"} if question["era"] == "modern" else {}
    return {
        "initialize": {"protocolVersion": LEGACY, "capabilities": {"tools": {}}, "serverInfo": INFO},
        "server/discover": {
            **modern,
            **cached,
            "supportedVersions": [MODERN],
            "capabilities": {"tools": {}},
            "serverInfo": INFO,
        },
        "tools/list": {**modern, **(cached if modern else {}), "tools": tools},
        "tools/call": {**modern, **call},
    }


def message(body: dict[str, Any]) -> SessionMessage:
    return SessionMessage(read_message(body))


async def serve(streams: Any, answers: dict[str, dict[str, Any]]) -> None:
    read, write = streams
    async for received in read:
        asked = getattr(received.message, "root", received.message)
        if getattr(asked, "id", None) is None:
            continue
        await write.send(message({"jsonrpc": "2.0", "id": asked.id, "result": answers[asked.method]}))


async def evaluate(question: dict[str, Any]) -> dict[str, Any]:
    async with create_client_server_memory_streams() as (client, server), anyio.create_task_group() as tasks:
        tasks.start_soon(serve, server, replies(question))
        async with ClientSession(*client) as session:
            await (session.discover() if question["era"] == "modern" else session.initialize())
            answer = await ask(session)
        tasks.cancel_scope.cancel()
    return answer


async def ask(session: ClientSession) -> dict[str, Any]:
    try:
        await session.list_tools()
    except Exception as error:
        return {"refuses": "list-lost", "message": str(error)}
    try:
        await session.call_tool("judged", {})
    except Exception as error:
        # An unresolved reference is reported in the same words, but only where a value reaches it.
        lost = isinstance(error.__context__, SchemaError)
        return {"refuses": "tool-lost" if lost else True, "message": str(error)[:500]}
    return {"refuses": False, "message": ""}


async def main() -> None:
    print(json.dumps([await evaluate(question) for question in json.load(sys.stdin)]))


anyio.run(main)
