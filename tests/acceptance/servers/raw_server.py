"""A server whose tools/list is whatever a JSON file says: two pages, broken tools, reply-stream notifications.

``python raw_server.py PORT FILE``. FILE: {"pages": [[tool, …], …], "declared": bool, "announce": bool}; it is read
anew for every request, so writing the file is a deploy. ``announce``: the answer to tools/list is an event stream
that carries a list_changed before the result. Legacy and modern.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

MODERN = "2026-07-28"
port, file = int(sys.argv[1]), Path(sys.argv[2])


async def mcp(request: Request) -> Response:
    if request.method != "POST":
        return Response(status_code=405, headers={"allow": "POST"})
    deployed = json.loads(file.read_text())
    capabilities = {"tools": {"listChanged": deployed.get("declared", False)}}
    message = await request.json()
    if "id" not in message:
        return Response(status_code=202)
    modern = request.headers.get("mcp-protocol-version") == MODERN
    method, params = message["method"], message.get("params") or {}
    complete = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if modern else {}
    if method == "server/discover":
        result = {"supportedVersions": [MODERN], "capabilities": capabilities, **complete}
    elif method == "initialize":
        result = {
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "serverInfo": {"name": "raw", "version": "1"},
        }
    elif method == "tools/list":
        number = int(params.get("cursor") or 0)
        pages = deployed["pages"]
        result = {"tools": pages[number], **complete}
        if number + 1 < len(pages):
            result["nextCursor"] = str(number + 1)
    else:
        error = {"code": -32601, "message": "Method not found"}
        return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "error": error}, status_code=404 if modern else 200)
    answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
    if method == "tools/list" and deployed.get("announce"):
        changed = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
        body = "".join(f"event: message\ndata: {json.dumps(frame)}\n\n" for frame in (changed, answer))
        return Response(body, media_type="text/event-stream")
    return JSONResponse(answer)


uvicorn.run(
    Starlette(routes=[Route("/mcp", mcp, methods=["GET", "POST", "DELETE"])]),
    host="127.0.0.1",
    port=port,
    log_level="warning",
)
