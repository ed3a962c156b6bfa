"""A stand-in for Slack: it enforces Slack's limits, keeps what arrived, and shows it as a page.

Mount ``FakeSlack().app`` in an application, run :func:`serve` in a test, or ``python -m driftwatch.testing.fake_slack``
on its own. Nothing is sent out; the newest 200 messages stay in memory.

    POST /services/…    what an incoming webhook takes; answers ``ok``, ``invalid_blocks``, … as Slack does
    POST /api/…         what an app's token may do: see driftwatch.testing.slack_api
    GET  /              the inbox as a page
    GET  /inbox.json    {"messages": [...], "refused": [...]}, oldest first
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl

import jinja2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

import driftwatch
from driftwatch.safe_text import safe_text
from driftwatch.testing import slack_limits
from driftwatch.testing.slack_api import WebApi
from driftwatch.testing.slack_buttons import MEI, User, post, pressed, submitted
from driftwatch.testing.slack_received import Dialog, Received, Refused

KEPT_MESSAGES: Final = 200
KEPT_REFUSALS: Final = 50
MAX_BODY: Final = 256 * 1024
#: the look of the inbox is that of the pages
STATIC: Final = Path(driftwatch.__file__).parent / "web" / "static"

_HEADERS: Final = {
    "content-security-policy": "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How one POST is answered instead of the usual way; see :meth:`FakeSlack.answer_next`."""

    status: int = 200
    body: str = "ok"
    headers: tuple[tuple[str, str], ...] = ()
    delay: float = 0.0
    taken_after: float | None = None
    keep: bool = True
    cut: bool = False


class FakeSlack:
    """The fake and its inbox. ``app`` is an ASGI application.

    ``latency``: seconds that every answer takes; ``trigger_seconds``: how long after a press a dialog may be opened;
    ``kept``: how many messages, the newest, stay in memory (None: all).
    """

    def __init__(
        self,
        *,
        latency: Callable[[], float] = lambda: 0.0,
        trigger_seconds: float = 3.0,
        kept: int | None = KEPT_MESSAGES,
    ) -> None:
        self.messages: deque[Received] = deque(maxlen=kept)
        self.refused: deque[Refused] = deque(maxlen=KEPT_REFUSALS)
        self.dialogs: deque[Dialog] = deque(maxlen=KEPT_REFUSALS)
        self.posts = 0
        self._latency = latency
        self._next: deque[Behaviour] = deque()
        self._api = WebApi(self.messages, self.refused, self.dialogs, trigger_seconds=trigger_seconds)
        self._templates = jinja2.Environment(
            loader=jinja2.PackageLoader("driftwatch.testing"), autoescape=True, trim_blocks=True, lstrip_blocks=True
        )
        self._templates.filters["visible"] = lambda value: safe_text(str(value))
        self.app = Starlette(
            routes=[
                Route("/", self._page),
                Route("/inbox.json", self._inbox),
                Route("/services/{path:path}", self._post, methods=["POST"]),
                Route("/api/{method}", self._call, methods=["POST", "GET"]),
                Mount("/static", StaticFiles(directory=STATIC)),  # where it is mounted, the pages' own are used
            ]
        )

    def answer_next(
        self,
        *,
        status: int = 200,
        body: str = "ok",
        retry_after: float | str | None = None,
        headers: Mapping[str, str] | None = None,
        delay: float = 0.0,
        taken_after: float | None = None,
        keep: bool | None = None,
        cut: bool = False,
        times: int = 1,
    ) -> None:
        """Answer the next ``times`` POSTs in another way.

        429 once: ``answer_next(status=429, retry_after=1.5)``; Slack's web API: ``body='{"ok": false, "error": …}'``;
        slow: ``delay=20``, of which ``taken_after`` (else half) pass before the message is taken: a sender that hangs
        up earlier has told nobody; a socket that closes in the middle of the answer: ``cut=True``.
        ``keep`` says whether the message counts as accepted; by default only after a plain ``ok``.
        """
        sent = dict(headers or {}) | ({} if retry_after is None else {"Retry-After": str(retry_after)})
        kept = keep if keep is not None else (status == 200 and body == "ok" and not cut)
        self._next.extend([Behaviour(status, body, tuple(sent.items()), delay, taken_after, kept, cut)] * times)

    def replies(self, message: Received) -> list[Received]:
        """What stands in a message's thread, oldest first."""
        return [m for m in self.messages if m.channel == message.channel and m.thread == message.ts]

    async def press(
        self, message: Received, text: str, url: str, secret: str, *, user: User = MEI, age: float = 0.0
    ) -> tuple[int, str]:
        """Press a button of a message as ``user``: POST the signed interaction to ``url``; the status and body.

        ``age``: seconds since Slack signed it. Raises KeyError for a button that the message does not have.
        """
        interaction = pressed(message, message.buttons[text], user, self._api.trigger())
        return await post(interaction, url, secret, age=age)

    async def submit(
        self, dialog: Dialog, url: str, secret: str, *, user: User = MEI, **filled: str
    ) -> tuple[int, str]:
        """Fill in a dialog (block id and text) and send it as ``user``; the status and body of the answer.

        Raises ValueError for a field that Slack would not let anybody leave empty.
        """
        return await post(submitted(dialog, filled, user), url, secret)

    async def _call(self, request: Request) -> Response:
        """The web API. It is answered through the same behaviours as webhooks."""
        self.posts += 1
        behaviour = self._next.popleft() if self._next else None
        before, after = self._waits(behaviour)
        await asyncio.sleep(before)
        try:
            given = await _given(request)
        except ClientDisconnect:
            return Response(status_code=499)
        token = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
        answer: dict[str, Any] = {}
        if behaviour is None or behaviour.keep:
            answer = self._api.call(request.path_params["method"], token, given)
        await asyncio.sleep(after)
        if behaviour is None or (behaviour.keep and behaviour.body == "ok" and not behaviour.cut):
            return Response(json.dumps(answer), media_type="application/json", headers=_HEADERS)
        if behaviour.cut:
            return _CutShort()
        headers = _HEADERS | dict(behaviour.headers)
        return Response(behaviour.body, behaviour.status, media_type="application/json", headers=headers)

    async def _post(self, request: Request) -> Response:
        self.posts += 1
        behaviour = self._next.popleft() if self._next else None
        before, after = self._waits(behaviour)
        channel = "#" + (request.path_params["path"].rstrip("/").rsplit("/", 1)[-1] or "general")
        await asyncio.sleep(before)
        try:
            raw = await _read(request)
        except ClientDisconnect:
            return Response(status_code=499)
        refusal = self._keep(channel, raw) if behaviour is None or behaviour.keep else None
        await asyncio.sleep(after)
        if refusal is not None:
            return PlainTextResponse(refusal, status_code=400, headers=_HEADERS)
        if behaviour is None:
            return PlainTextResponse("ok", headers=_HEADERS)
        if behaviour.cut:
            return _CutShort()
        return PlainTextResponse(behaviour.body, behaviour.status, headers=_HEADERS | dict(behaviour.headers))

    def _waits(self, behaviour: Behaviour | None) -> tuple[float, float]:
        """Seconds before and after a message is taken."""
        if behaviour is None:
            half = self._latency() / 2
            return half, half
        before = behaviour.delay / 2 if behaviour.taken_after is None else behaviour.taken_after
        return before, max(behaviour.delay - before, 0.0)

    def _keep(self, channel: str, raw: bytes | None) -> str | None:
        """Store a message, or the refusal that is answered."""
        now = datetime.now(UTC)
        body = _parsed(raw)
        found = slack_limits.refusal(body)
        if found is not None or not isinstance(body, dict):
            error, why = found or ("invalid_payload", "no JSON object")
            self.refused.append(Refused(now.isoformat(), channel, error, why))
            return error
        ts = f"{now.timestamp():.6f}"
        self.messages.append(Received(ts, channel, now, slack_limits.characters(body.get("blocks", [])), body))
        return None

    async def _inbox(self, request: Request) -> Response:
        inbox = {"messages": [m.as_json() for m in self.messages], "refused": [asdict(r) for r in self.refused]}
        # ASCII: a message may hold a lone surrogate
        return Response(json.dumps(inbox), media_type="application/json", headers=_HEADERS)

    async def _page(self, request: Request) -> Response:
        channels = dict.fromkeys(m.channel for m in self.messages)
        wanted = request.query_params.get("channel")
        channel = wanted if wanted in channels else next(reversed(channels), None)
        page = self._templates.get_template("inbox.html").render(
            channels={name: sum(m.channel == name for m in self.messages) for name in channels},
            channel=channel,
            messages=[m for m in reversed(self.messages) if m.channel == channel and m.thread is None],
            replies={m.ts: self.replies(m) for m in self.messages if m.channel == channel},
            refused=list(self.refused),
            mounted=bool(request.scope.get("root_path")),
            limits=slack_limits,
        )
        # what cannot be encoded was made visible by the template
        return HTMLResponse(page.encode("utf-8", "backslashreplace"), headers=_HEADERS)


class _CutShort(Response):
    """Promises a body and sends none, so that the server closes the connection in the middle of the answer."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1000")]})
        await send({"type": "http.response.body", "body": b"o", "more_body": True})


async def _given(request: Request) -> dict[str, Any]:
    """The arguments of a call: a JSON object, a form, or the query."""
    raw = await _read(request) or b""
    kind = request.headers.get("content-type", "")
    if kind.startswith("application/json"):
        parsed = _parsed(raw)
        return parsed if isinstance(parsed, dict) else {}
    return dict(request.query_params) | dict(parse_qsl(raw.decode("utf-8", "replace")))


async def _read(request: Request) -> bytes | None:
    """The body, or None when it is larger than any message."""
    raw = b""
    async for piece in request.stream():
        raw += piece
        if len(raw) > MAX_BODY:
            return None
    return raw


def _parsed(raw: bytes | None) -> object:
    try:
        return None if raw is None else json.loads(raw, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return None


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is not JSON")


class _Server(uvicorn.Server):
    """uvicorn without its own signal handlers: whoever runs it decides when it ends."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone."""
        yield


@asynccontextmanager
async def serve(fake: FakeSlack, *, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
    """Run the fake in this event loop; yields a webhook URL of it (its web API is at ``/api/``)."""
    listener = socket.create_server((host, port))
    config = uvicorn.Config(fake.app, log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
    server = _Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield f"http://{host}:{listener.getsockname()[1]}/services/T0/B0/test"
    finally:
        server.should_exit = True
        await task
        listener.close()


def main() -> None:
    """Run the fake on its own: ``python -m driftwatch.testing.fake_slack --port 8799``."""
    parser = argparse.ArgumentParser(description="A stand-in for Slack's incoming webhooks.")
    parser.add_argument("--port", type=int, default=8799)
    uvicorn.run(FakeSlack().app, host="127.0.0.1", port=parser.parse_args().port, log_level="warning", lifespan="off")


if __name__ == "__main__":
    main()
