"""One exchange over streamable HTTP: POST a message, take the answer as JSON or as a reply stream."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import httpx2

from driftwatch.errors import WireError
from driftwatch.wire import messages
from driftwatch.wire.challenge import read_challenge
from driftwatch.wire.client import Budget, WireClient, read_body
from driftwatch.wire.errors import BadJsonError, BadResultError, NotMcpError
from driftwatch.wire.facts import Target
from driftwatch.wire.sse import Event, EventParser
from driftwatch.wire.statuses import retry_after, speaks_for_itself, status_error

# Constant, so that an unchanged server answers with unchanged bytes.
REQUEST_ID: Final = 1
_SHORT_BODY_BYTES: Final = 16 * 1024
_SHORT_BODY_SECONDS: Final = 2.0
# A reply stream should end with our answer. Reading that end keeps the connection usable; waiting for it must be short.
_DRAIN_SECONDS: Final = 0.25

_OURS = frozenset({"accept", "accept-encoding", "connection", "content-length", "content-type", "transfer-encoding"})
_HEADERS: Final = {
    "accept": "application/json, text/event-stream",
    "accept-encoding": "identity",
    "content-type": "application/json",
    "user-agent": "driftwatch",
}


@dataclass(slots=True)
class Answer:
    """What came back for one request: a result (bytes) or a JSON-RPC failure, and what was said beside it."""

    status: int
    result: bytes | None = None
    failure: messages.RpcFailure | None = None
    session_id: str | None = None
    list_changed_at: list[datetime] = field(default_factory=list)

    @property
    def answered(self) -> bool:
        """True once the result or the failure is there."""
        return self.result is not None or self.failure is not None

    def take_all(self, found: list[messages.Message], request_id: int, now: datetime) -> None:
        """Keep what concerns us: our answer and list_changed. Everything else is tolerated and dropped."""
        for message in found:
            if message.is_list_changed():
                self.list_changed_at.append(now)
            elif self.answered or bytes(message.method):
                continue
            elif error := message.error_object():
                # The id of an error may be null or anything else where the request was not understood.
                self.failure = messages.failure(error)
            elif message.answers(request_id):
                self.result = bytes(message.result) or None


def base_headers(target: Target) -> dict[str, str]:
    """The registration's headers under ours."""
    theirs = {name.lower(): value for name, value in target.headers.items()}
    kept = {n: v for n, v in theirs.items() if n not in _OURS and not n.startswith("mcp-")}
    token = {} if target.token is None else {"authorization": f"Bearer {target.token}"}
    return {**kept, **token, **_HEADERS}


async def ask(
    client: WireClient,
    url: str,
    headers: Mapping[str, str],
    method: str,
    params: Mapping[str, Any],
    budget: Budget,
) -> Answer:
    """POST one request and read its answer.

    A JSON-RPC error with a 2xx or 4xx status is an Answer (the caller knows what it means in its era); 401, 403, 429
    and 5xx, and everything that is no JSON-RPC, are raised as WireErrors.
    """
    body = messages.request(method, params, REQUEST_ID)
    async with client.open("POST", url, headers, body) as response:
        answer = Answer(response.status_code, session_id=response.headers.get("mcp-session-id"))
        if response.status_code >= 300:
            await _read_error(client, response, answer)
        elif media_type(response) == "text/event-stream":
            await _read_stream(client, response, budget, answer)
        else:
            _read_json(client, response, await read_body(response, budget), answer)
    if not answer.answered:
        raise BadResultError(f"The server ended its reply to {method} without answering.", status=answer.status)
    return answer


async def tell(client: WireClient, url: str, headers: Mapping[str, str], method: str) -> None:
    """POST a notification; whatever a working server answers is fine."""
    async with client.open("POST", url, headers, messages.notification(method)) as response:
        body = await short_body(response)
        if response.status_code >= 400:
            raise http_error(client, response, body)


async def _read_stream(client: WireClient, response: httpx2.Response, budget: Budget, answer: Answer) -> None:
    parser = EventParser()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(None) as timer:
            async for chunk in response.aiter_raw():
                budget.take(len(chunk))
                for event in parser.feed(chunk):
                    answer.take_all(read_event(event), REQUEST_ID, client.clock.now())
                if answer.answered and timer.when() is None:
                    timer.reschedule(asyncio.get_running_loop().time() + _DRAIN_SECONDS)


def read_event(event: Event) -> list[messages.Message]:
    """The messages of one event; priming events without data and events of other names hold none."""
    return messages.read_messages(event.data) if event.name == "message" and event.data else []


def _read_json(client: WireClient, response: httpx2.Response, body: bytes, answer: Answer) -> None:
    try:
        found = messages.read_messages(body)
    except (BadJsonError, NotMcpError) as error:
        if error.code == BadJsonError.code and media_type(response) == "application/json":
            raise
        kind = messages.shown(media_type(response) or "no content type")
        raise NotMcpError(f"The server answered with no JSON-RPC ({kind}).", status=response.status_code) from None
    answer.take_all(found, REQUEST_ID, client.clock.now())


async def _read_error(client: WireClient, response: httpx2.Response, answer: Answer) -> None:
    """Raise what the status says, unless it is a 4xx that carries a JSON-RPC error."""
    body = await short_body(response)
    with contextlib.suppress(WireError):
        answer.take_all(messages.read_messages(body), REQUEST_ID, client.clock.now())
    if answer.failure is None or speaks_for_itself(response.status_code):
        raise http_error(client, response, body, answer.failure)


async def short_body(response: httpx2.Response) -> bytes:
    """A body that matters little: 16 KiB of it, for two seconds at most. Its end lets the connection live on."""
    received = bytearray()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_SHORT_BODY_SECONDS):
            async for chunk in response.aiter_raw():
                received += chunk
                if len(received) > _SHORT_BODY_BYTES:
                    break
    return bytes(received)


def http_error(
    client: WireClient, response: httpx2.Response, body: bytes, failure: messages.RpcFailure | None = None
) -> WireError:
    """The named failure of a response with an error status."""
    wait = retry_after(response.headers.get("retry-after"), client.clock.now())
    detail = failure.message if failure is not None else ""
    challenge = read_challenge(response.headers.get("www-authenticate"))
    return status_error(response.status_code, detail=detail, retry_after=wait, challenge=challenge)


def media_type(response: httpx2.Response) -> str:
    """The content type without its parameters, lower case."""
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()
