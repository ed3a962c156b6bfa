"""A server whose every answer a test decides, and any ASGI app served on loopback from a thread."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import socket
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

MODERN = "2026-07-28"


@dataclass
class Call:
    """One request as the hostile server received it; its methods build the usual answers."""

    http: str
    headers: dict[str, str]
    body: dict[str, Any]
    connection: tuple[str, int]

    @property
    def method(self) -> str | None:
        return self.body.get("method")

    @property
    def params(self) -> dict[str, Any]:
        return self.body.get("params") or {}

    @property
    def modern(self) -> bool:
        return self.headers.get("mcp-protocol-version") == MODERN

    def message(self, result: Any) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": self.body.get("id"), "result": result}

    def ok(self, result: Any, **headers: str) -> Response:
        return JSONResponse(self.message(result), headers={k.replace("_", "-"): v for k, v in headers.items()})

    def error(self, code: int, message: str = "no", status: int = 200, data: Any = None) -> Response:
        error = {"code": code, "message": message, **({"data": data} if data is not None else {})}
        return JSONResponse({"jsonrpc": "2.0", "id": self.body.get("id"), "error": error}, status_code=status)

    def polite(self, tools: list[Any] | None = None, *, session: str | None = None, **result: Any) -> Response:
        """What a well-behaved server of both eras answers."""
        if self.http == "GET":
            return Response(status_code=405)
        if self.http == "DELETE":
            return Response(status_code=204)
        if "id" not in self.body:
            return Response(status_code=202)
        if self.method == "initialize":
            known = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "h"}}
            return self.ok(known, **({"mcp_session_id": session} if session else {}))
        if self.method == "server/discover":
            return self.ok({"resultType": "complete", "supportedVersions": [MODERN], "capabilities": {"tools": {}}})
        if self.method == "tools/list":
            return self.ok({"tools": tools if tools is not None else [TOOL], **result})
        return self.error(-32601, "Method not found", 404 if self.modern else 200)


TOOL: dict[str, Any] = {"name": "echo", "inputSchema": {"type": "object"}}
Behaviour = Callable[[Call], Response | Awaitable[Response]]


@dataclass
class Played:
    """A behaviour at its URL, and the calls it received."""

    url: str
    behaviour: Behaviour
    calls: list[Call] = field(default_factory=list)

    def methods(self) -> list[str]:
        return [call.method or call.http for call in self.calls]


class HostileServer:
    """Plays any number of behaviours, each under its own path."""

    def __init__(self) -> None:
        self._played: dict[str, Played] = {}
        self._names = itertools.count(1)
        self.origin = ""
        routes = [Route("/{name}", self._handle, methods=["GET", "POST", "DELETE"])]
        self.app = Starlette(routes=routes)

    def play(self, behaviour: Behaviour) -> Played:
        name = f"m{next(self._names)}"
        self._played[name] = Played(f"{self.origin}/{name}", behaviour)
        return self._played[name]

    async def _handle(self, request: Request) -> Response:
        played = self._played[request.path_params["name"]]
        raw = await request.body()
        assert request.client is not None
        call = Call(request.method, dict(request.headers), json.loads(raw or b"{}"), tuple(request.client))
        played.calls.append(call)
        answer = played.behaviour(call)
        return answer if isinstance(answer, Response) else await answer


def sse(*frames: bytes | float, status: int = 200) -> Response:
    """A reply stream of byte chunks; a number is a pause in seconds."""

    async def chunks() -> AsyncIterator[bytes]:
        for frame in frames:
            if isinstance(frame, bytes):
                yield frame
            else:
                await asyncio.sleep(frame)

    return StreamingResponse(chunks(), status_code=status, media_type="text/event-stream")


def event(message: Any) -> bytes:
    return b"event: message\r\ndata: " + json.dumps(message).encode() + b"\r\n\r\n"


@contextlib.contextmanager
def serving(app: Any, **options: Any) -> Iterator[str]:
    """The origin of an ASGI app that runs in a thread on a free port of loopback."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1, ws="none", **options)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.005)
        scheme = "https" if options.get("ssl_certfile") else "http"
        try:
            yield f"{scheme}://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(10)
