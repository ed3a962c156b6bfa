"""The oldest transport (2024-11-05): GET opens a stream that names a POST endpoint; answers arrive on the stream."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any

import httpx2

from driftwatch.wire import messages, session, streamable
from driftwatch.wire.client import Budget, WireClient
from driftwatch.wire.errors import (
    BadResultError,
    BadTargetError,
    NotMcpError,
    RedirectedError,
    RpcError,
    UnreachableError,
)
from driftwatch.wire.facts import EraFacts, Target, Transport
from driftwatch.wire.sse import Event, EventParser
from driftwatch.wire.streamable import Answer, read_event
from driftwatch.wire.urls import checked_url, origin, shown_origin


class HttpSseChannel:
    """A Channel over one open stream. Ids count up, because all answers share the stream.

    ``events``: what arrives when nobody asks; None for bytes that complete no event.
    """

    def __init__(
        self, client: WireClient, target: Target, endpoint: str, events: AsyncIterator[Event | None], budget: Budget
    ) -> None:
        self._client = client
        self._headers = streamable.base_headers(target)
        self._endpoint = endpoint
        self.events = events
        self._budget = budget
        self._last_id = 0

    async def ask(self, method: str, params: Mapping[str, Any]) -> Answer:
        """POST a request and wait for its answer on the stream."""
        self._last_id += 1
        await self._post(messages.request(method, params, self._last_id))
        answer = Answer(200)
        async for event in self.events:
            if event is None:
                continue
            answer.take_all(read_event(event), self._last_id, self._client.clock.now())
            if answer.answered:
                return answer
        raise UnreachableError(f"The stream ended before {method} was answered.")

    async def tell(self, method: str) -> None:
        """POST a notification."""
        await self._post(messages.notification(method))

    async def _post(self, body: bytes) -> None:
        async with self._client.open("POST", self._endpoint, self._headers, body) as response:
            rest = await streamable.short_body(response)
            if response.status_code >= 400:
                raise streamable.http_error(self._client, response, rest)


@asynccontextmanager
async def open_stream(client: WireClient, target: Target, budget: Budget) -> AsyncIterator[HttpSseChannel]:
    """A channel for as long as the stream is held.

    Raises NotMcpError when the GET is not answered by an event stream whose first event names a same-origin endpoint.
    """
    headers = {**streamable.base_headers(target), "accept": "text/event-stream"}
    del headers["content-type"]
    async with client.open("GET", target.url, headers) as response:
        if response.status_code >= 400:
            raise streamable.http_error(client, response, await streamable.short_body(response))
        if streamable.media_type(response) != "text/event-stream":
            raise NotMcpError("A GET is not answered by an event stream.", status=response.status_code)
        async with aclosing(_events(response, budget)) as events:
            endpoint = await _endpoint(events, target)
            yield HttpSseChannel(client, target, endpoint, events, budget)


async def initialize(channel: HttpSseChannel) -> EraFacts:
    """The handshake on an open stream. Raises RpcError when the server refuses it."""
    answer = await session.handshake(channel)
    if answer.failure is not None:
        raise RpcError(f"initialize failed: {answer.failure.message}", rpc_code=answer.failure.code)
    facts = session.facts_of(answer, Transport.HTTP_SSE)
    await channel.tell("notifications/initialized")
    return facts


def endpoint_url(target_url: str, data: bytes) -> str:
    """Where to POST. Pure. Raises RedirectedError unless it has the stream's origin (credentials go there)."""
    base = checked_url(target_url)
    try:
        endpoint = checked_url(str(base.join(data.decode("utf-8").strip())))
    except (httpx2.InvalidURL, ValueError, BadTargetError):
        raise BadResultError("The endpoint event names no address that may be requested.") from None
    if origin(endpoint) != origin(base):
        raise RedirectedError(
            f"The endpoint event points to another origin, {shown_origin(endpoint)}.",
            hint="The endpoint of an HTTP+SSE server must have the origin of its stream.",
        )
    return str(endpoint)


async def _events(response: httpx2.Response, budget: Budget) -> AsyncGenerator[Event | None, None]:
    parser = EventParser()
    async for chunk in response.aiter_raw():
        budget.take(len(chunk))
        for event in parser.feed(chunk) or (None,):
            yield event


async def _endpoint(events: AsyncIterator[Event | None], target: Target) -> str:
    async for event in events:
        if event is None:
            continue
        if event.name == "endpoint":
            return endpoint_url(target.url, event.data)
        break
    raise NotMcpError("The event stream does not begin with an endpoint event.")
