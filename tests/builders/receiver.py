"""A receiver of signed webhooks that takes its time and keeps what it took."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass

import uvicorn
from standardwebhooks import Webhook
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route


@dataclass(frozen=True)
class Event:
    """What was taken: its delivery id, its type, and the alert it is about."""

    delivery_id: str
    type: str
    alert: int


class Receiver:
    """``taken`` holds every event whose signature is right. ``latency``: seconds that an answer takes."""

    def __init__(self, *, latency: Callable[[], float]) -> None:
        self.taken: list[Event] = []
        self.secret = ""
        self._latency = latency
        self.app = Starlette(routes=[Route("/hook", self._take, methods=["POST"])])

    async def _take(self, request: Request) -> Response:
        seconds = self._latency()
        await asyncio.sleep(seconds / 2)
        try:
            raw = await request.body()
        except ClientDisconnect:
            return Response(status_code=499)
        Webhook(self.secret).verify(raw, dict(request.headers))
        body = json.loads(raw)
        self.taken.append(Event(request.headers["webhook-id"], body["type"], body["data"]["alert"]["id"]))
        await asyncio.sleep(seconds / 2)
        return PlainTextResponse("ok")


@asynccontextmanager
async def receiving(receiver: Receiver) -> AsyncIterator[str]:
    """Run it in this event loop; its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(receiver.app, log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    server.capture_signals = nullcontext  # type: ignore[method-assign, assignment]  # pytest's own handlers stay
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/hook"
    finally:
        server.should_exit = True
        await task
        listener.close()
