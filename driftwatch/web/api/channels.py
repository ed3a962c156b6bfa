"""Channels: where messages go, what became of them, and routes. Secrets come in and never go out again."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Body, Request, Response, status

from driftwatch.alerts import channel_actions, delivery_read, route_store
from driftwatch.alerts.route_tables import Route
from driftwatch.alerts.routes import Match, match_of
from driftwatch.web.api import cursor as cursors
from driftwatch.web.api.acting import by
from driftwatch.web.api.alerting_shapes import channel_out, delivery_out, route_out
from driftwatch.web.api.models import (
    ChannelAdded,
    ChannelIn,
    ChannelOut,
    ChannelPatch,
    DeliveryOut,
    Id,
    MatchIn,
    Page,
    RouteIn,
    RouteOut,
    RoutePatch,
    SecretOut,
)
from driftwatch.web.api.params import Cursor, Limit, RowId
from driftwatch.web.auth.dependencies import Reader, Transaction, Writer, services_of

router = APIRouter(tags=["channels"])

NO_CONTENT = status.HTTP_204_NO_CONTENT


@router.get("/channels", summary="Channels with what waits for them")
async def list_channels(who: Reader, session: Transaction) -> list[ChannelOut]:
    """Every channel, without its secrets."""
    return [channel_out(channel) for channel in await delivery_read.channels(session)]


@router.post("/channels", status_code=status.HTTP_201_CREATED, summary="Add a channel")
async def add_channel(request: Request, who: Writer, session: Transaction, body: ChannelIn) -> ChannelAdded:
    """A webhook's signing secret is in the answer, this once."""
    services = services_of(request)
    channel, secret = await channel_actions.add(
        session,
        services.settings,
        services.secrets,
        by(request, who),
        name=body.name,
        kind=body.kind,
        given=body.config.model_dump(exclude_none=True),
        accepts=_match(body.accepts),
    )
    return ChannelAdded(channel=await _channel(session, channel.id or 0), secret=secret)


@router.patch("/channels/{channel_id:int}", summary="Change, filter, enable or disable a channel")
async def change_channel(
    channel_id: RowId, request: Request, who: Writer, session: Transaction, body: ChannelPatch
) -> ChannelOut:
    """What waits for a channel goes out once it is enabled again."""
    services = services_of(request)
    await channel_actions.change(
        session,
        services.settings,
        services.secrets,
        by(request, who),
        channel_id,
        name=body.name,
        given=None if body.config is None else body.config.model_dump(exclude_none=True),
        accepts=_match(body.accepts),
        enabled=body.enabled,
    )
    return await _channel(session, channel_id)


@router.delete("/channels/{channel_id:int}", status_code=NO_CONTENT, summary="Remove a channel")
async def remove_channel(channel_id: RowId, request: Request, who: Writer, session: Transaction) -> Response:
    """Its secret is wiped, its log stays, routes forget it."""
    await channel_actions.remove(session, services_of(request).secrets, by(request, who), channel_id)
    return Response(status_code=NO_CONTENT)


@router.post("/channels/{channel_id:int}/test", status_code=status.HTTP_202_ACCEPTED, summary="Send a test message")
async def test_channel(channel_id: RowId, request: Request, who: Writer, session: Transaction) -> DeliveryOut:
    """The answer is the delivery as it waits; look at it again for what the channel answered."""
    settings = services_of(request).settings
    delivery_id = await channel_actions.test(session, settings, by(request, who), channel_id)
    return delivery_out(await delivery_read.load_delivery(session, delivery_id))


@router.post("/channels/{channel_id:int}/rotate-secret", summary="Rotate a webhook's signing secret")
async def rotate_secret(channel_id: RowId, request: Request, who: Writer, session: Transaction) -> SecretOut:
    """For a day messages carry both signatures, so that the receiver can change over."""
    secret = await channel_actions.rotate(session, services_of(request).secrets, by(request, who), channel_id)
    return SecretOut(secret=secret)


@router.get("/channels/{channel_id:int}/deliveries", summary="What a channel was sent, and what it answered")
async def list_deliveries(
    channel_id: RowId,
    who: Reader,
    session: Transaction,
    state: Literal["queued", "leased", "delivered", "dead"] | None = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[DeliveryOut]:
    """Newest first; also of channels that were removed."""
    before = cursors.decode(cursor)
    found = await delivery_read.channel_log(session, channel_id, state=state, before=before, limit=limit + 1)
    return Page(items=[delivery_out(delivery) for delivery in found[:limit]], next=cursors.after(found, limit))


@router.get("/deliveries/{delivery_id:int}", summary="One delivery with every attempt")
async def get_delivery(delivery_id: RowId, who: Reader, session: Transaction) -> DeliveryOut:
    """Also of channels that were removed."""
    return delivery_out(await delivery_read.load_delivery(session, delivery_id))


@router.post("/deliveries/{delivery_id:int}/redeliver", status_code=status.HTTP_202_ACCEPTED, summary="Send it again")
async def redeliver(delivery_id: RowId, request: Request, who: Writer, session: Transaction) -> DeliveryOut:
    """A dead letter, or a delivery that its receiver lost, under the same delivery id."""
    await channel_actions.redeliver(session, by(request, who), delivery_id)
    return delivery_out(await delivery_read.load_delivery(session, delivery_id))


@router.get("/routes", summary="Routes in the order in which they are asked")
async def list_routes(who: Reader, session: Transaction) -> list[RouteOut]:
    """When none matches, every channel is told."""
    return [route_out(row) for row in await route_store.all_routes(session)]


@router.post("/routes", status_code=status.HTTP_201_CREATED, summary="Add a route behind all others")
async def add_route(request: Request, who: Writer, session: Transaction, body: RouteIn) -> RouteOut:
    """A route without conditions matches everything: put last, it is the default."""
    row = await channel_actions.add_route(
        session,
        by(request, who),
        name=body.name,
        match=match_of(body.match.model_dump()),
        channels=body.channels,
        goes_on=body.goes_on,
    )
    return route_out(row)


@router.patch("/routes/{route_id:int}", summary="Change a route")
async def change_route(
    route_id: RowId, request: Request, who: Writer, session: Transaction, body: RoutePatch
) -> RouteOut:
    """What is left out stays."""
    row: Route = await channel_actions.change_route(
        session,
        by(request, who),
        route_id,
        match=_match(body.match),
        channels=body.channels,
        goes_on=body.goes_on,
    )
    return route_out(row)


@router.delete("/routes/{route_id:int}", status_code=NO_CONTENT, summary="Remove a route")
async def remove_route(route_id: RowId, request: Request, who: Writer, session: Transaction) -> Response:
    """Its channels stay."""
    await channel_actions.remove_route(session, by(request, who), route_id)
    return Response(status_code=NO_CONTENT)


@router.put("/routes/order", summary="Put the routes in order")
async def order_routes(
    request: Request, who: Writer, session: Transaction, body: Annotated[list[Id], Body(max_length=1000)]
) -> list[RouteOut]:
    """Every route is named once."""
    await channel_actions.order_routes(session, by(request, who), body)
    await session.flush()
    return [route_out(row) for row in await route_store.all_routes(session)]


def _match(given: MatchIn | None) -> Match | None:
    return None if given is None else match_of(given.model_dump())


async def _channel(session: Transaction, channel_id: int) -> ChannelOut:
    await session.flush()
    return channel_out(next(c for c in await delivery_read.channels(session) if c.id == channel_id))
