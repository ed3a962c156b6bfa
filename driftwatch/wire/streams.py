"""Hold one change stream: ``subscriptions/listen`` (modern), GET on a kept session, or the HTTP+SSE stream (legacy).

There is no replay and no resume in either era: what is said while no stream is held is never heard.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import httpx2

from driftwatch.errors import WireError
from driftwatch.wire import http_sse, messages, streamable
from driftwatch.wire.channels import legacy_headers, modern_headers, modern_params
from driftwatch.wire.client import Budget, WireClient, read_body
from driftwatch.wire.errors import BadResultError, NotMcpError, PollTimeoutError, RpcError, TooLargeError
from driftwatch.wire.facts import Era, EraFacts, Session, Target, Transport
from driftwatch.wire.sse import EventParser
from driftwatch.wire.statuses import speaks_for_itself
from driftwatch.wire.stream_events import (
    Acknowledged,
    Ended,
    Heard,
    Limited,
    Notified,
    StreamEvent,
    Undeliverable,
    UndeliverableReason,
)
from driftwatch.wire.walk import STARTUP_NOISE

LISTEN: Final = "subscriptions/listen"
#: a server that has not acknowledged by then will not
ACK_SECONDS: Final = 10.0


async def listen(client: WireClient, target: Target, facts: EraFacts) -> AsyncGenerator[StreamEvent, None]:
    """The events of one stream, until it ends; close the generator to end it (use ``aclosing``).

    Begins with Acknowledged, Undeliverable or Limited; an acknowledged stream ends with Ended. ``facts.session`` is
    the kept session of a legacy profile; the caller has none: nothing to hold.

    Raises WireError when no stream could be opened and the reason says nothing about the server's abilities.
    """
    if facts.era is Era.MODERN:
        held = _modern(client, target, facts.protocol_version)
    elif facts.session is not None and facts.session.transport is Transport.HTTP_SSE:
        held = _http_sse(client, target)
    else:
        held = _legacy(client, target, facts.session)
    async with aclosing(held) as events:
        async for event in events:
            yield event


@dataclass(frozen=True, slots=True)
class _Piece:
    """What one chunk held: usually nothing but the proof that the stream lives."""

    at: datetime
    messages: list[messages.Message]


async def _modern(client: WireClient, target: Target, version: str) -> AsyncGenerator[StreamEvent, None]:
    params = modern_params(version, {"notifications": {"toolsListChanged": True}})
    body = messages.request(LISTEN, params, streamable.REQUEST_ID)
    headers = modern_headers(target, version, LISTEN)
    async with AsyncExitStack() as stack:
        async with _ack_deadline():
            response = await stack.enter_async_context(client.open("POST", target.url, headers, body))
            budget = client.budget()
            if response.status_code >= 300 or streamable.media_type(response) != "text/event-stream":
                refusal: StreamEvent = await _refused(client, response, budget)
            else:
                pieces = await stack.enter_async_context(aclosing(_pieces(client, response, budget)))
                first = await _first_messages(pieces)
                refusal = _answer(client, first)
        yield refusal
        if isinstance(refusal, Acknowledged):
            # What came in the same piece as the acknowledgement, or against the rules before it, counts as well.
            for _ in filter(messages.Message.is_list_changed, first.messages):
                yield Notified(first.at)
            async for event in _follow(client, pieces):
                yield event


async def _first_messages(pieces: AsyncIterator[_Piece]) -> _Piece:
    found: list[messages.Message] = []
    async for piece in pieces:
        found += piece.messages
        if any(not message.is_list_changed() for message in found):
            return _Piece(piece.at, found)
    raise BadResultError("The server ended the subscription without acknowledging it.")


def _answer(client: WireClient, first: _Piece) -> StreamEvent:
    """What the first frames say. Raises RpcError for a refusal that says nothing about abilities."""
    for message in first.messages:
        if message.is_acknowledgement():
            return Acknowledged(first.at) if message.honours_tools() else Undeliverable(first.at, "ack-omits-tools")
        if error := message.error_object():
            return _refusal(client, messages.failure(error), None)
    raise BadResultError("The subscription does not begin with an acknowledgement.")


async def _refused(client: WireClient, response: httpx2.Response, budget: Budget) -> StreamEvent:
    """What an answer that is no event stream says."""
    status = response.status_code
    body = await (streamable.short_body(response) if status >= 300 else read_body(response, budget))
    answer = streamable.Answer(status)
    with contextlib.suppress(WireError):
        answer.take_all(messages.read_messages(body), streamable.REQUEST_ID, client.clock.now())
    if answer.failure is not None and not speaks_for_itself(status):
        return _refusal(client, answer.failure, status)
    if status in (404, 405):
        return Undeliverable(client.clock.now(), "listen-404")
    if answer.failure is not None and answer.failure.code == messages.INTERNAL_ERROR and status == 500:
        return Limited(client.clock.now())
    if status >= 300:
        raise streamable.http_error(client, response, body, answer.failure)
    raise BadResultError("The subscription is not answered by an event stream.", status=status)


def _refusal(client: WireClient, failure: messages.RpcFailure, status: int | None) -> StreamEvent:
    if failure.code == messages.INTERNAL_ERROR:
        return Limited(client.clock.now())
    if failure.code == messages.METHOD_NOT_FOUND:
        return Undeliverable(client.clock.now(), "listen-404")
    raise RpcError(f"{LISTEN} failed: {failure.message} ({failure.code}).", rpc_code=failure.code, status=status)


async def _legacy(client: WireClient, target: Target, session: Session | None) -> AsyncGenerator[StreamEvent, None]:
    headers = {**legacy_headers(target, session), "accept": "text/event-stream"}
    del headers["content-type"]
    async with AsyncExitStack() as stack:
        async with _ack_deadline():
            response = await stack.enter_async_context(client.open("GET", target.url, headers))
            cannot = _cannot(response.status_code, session)
            if response.status_code >= 300 and cannot is None:
                raise streamable.http_error(client, response, await streamable.short_body(response))
        now = client.clock.now()
        if cannot is not None:
            yield Undeliverable(now, cannot)
            return
        if streamable.media_type(response) != "text/event-stream":
            raise NotMcpError("A GET is not answered by an event stream.", status=response.status_code)
        yield Acknowledged(now)
        async with aclosing(_pieces(client, response, client.budget())) as pieces:
            async for event in _follow(client, pieces):
                yield event


def _cannot(status: int, session: Session | None) -> UndeliverableReason | None:
    """Why nothing could ever arrive on the answer to a GET; None: it could, or the answer does not say."""
    if status == 405:
        return "get-405"
    # Some servers without sessions hold a stream on which nothing can arrive: it belongs to nobody.
    known = session is not None and session.id is not None
    return None if known or speaks_for_itself(status) else "no-session"


async def _http_sse(client: WireClient, target: Target) -> AsyncGenerator[StreamEvent, None]:
    async with AsyncExitStack() as stack:
        async with _ack_deadline():
            opened = http_sse.open_stream(client, target, client.budget())
            channel = await stack.enter_async_context(opened)
            await http_sse.initialize(channel)
        now = client.clock.now()
        yield Acknowledged(now, noise_until=now + STARTUP_NOISE)
        async with aclosing(_channel_pieces(client, channel)) as pieces:
            async for event in _follow(client, pieces):
                yield event


async def _pieces(client: WireClient, response: httpx2.Response, budget: Budget) -> AsyncGenerator[_Piece, None]:
    parser = EventParser()
    async for chunk in response.aiter_raw():
        budget.take(len(chunk))
        found: list[messages.Message] = []
        for event in parser.feed(chunk):
            with contextlib.suppress(WireError):  # what no client can read announces nothing
                found += streamable.read_event(event)
        yield _Piece(client.clock.now(), found)


async def _channel_pieces(client: WireClient, channel: http_sse.HttpSseChannel) -> AsyncGenerator[_Piece, None]:
    async for event in channel.events:
        found: list[messages.Message] = []
        with contextlib.suppress(WireError):
            found = [] if event is None else streamable.read_event(event)
        yield _Piece(client.clock.now(), found)


async def _follow(client: WireClient, pieces: AsyncIterator[_Piece]) -> AsyncGenerator[StreamEvent, None]:
    """The events after the acknowledgement."""
    try:
        async for piece in pieces:
            yield Heard(piece.at)
            for message in piece.messages:
                if message.is_list_changed():
                    yield Notified(piece.at)
                elif not bytes(message.method) and message.answers(streamable.REQUEST_ID):
                    yield Ended(piece.at, "server", "finished")
                    return
        yield Ended(client.clock.now(), "server", "closed")
    except httpx2.HTTPError:
        yield Ended(client.clock.now(), "server", "broken")
    except TooLargeError:
        yield Ended(client.clock.now(), "us", "too-large")


@asynccontextmanager
async def _ack_deadline() -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(ACK_SECONDS) as timer:
            yield
    except TimeoutError:
        if not timer.expired():
            raise
        raise PollTimeoutError(f"The stream was not acknowledged within {ACK_SECONDS:g} s.") from None
