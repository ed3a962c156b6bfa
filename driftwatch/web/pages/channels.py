"""Who is told: channels with their state and filters, routes in order, and what was sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, Response
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts import channel_actions, delivery_read, route_store
from driftwatch.alerts.actions import By
from driftwatch.alerts.routes import match_of
from driftwatch.errors import InputError
from driftwatch.web.auth.dependencies import FormVisitor, PageVisitor
from driftwatch.web.pages import store, words
from driftwatch.web.pages.forms import Id, Key, Text, by, see_other
from driftwatch.web.pages.matching import Asked, conditions, fields
from driftwatch.web.pages.render import render

if TYPE_CHECKING:
    from driftwatch.app import Services

LOG: Final = 50
HERE: Final = "/settings/channels"


def router(services: Services) -> APIRouter:
    """The page and its forms."""
    pages = APIRouter()

    @pages.get(HERE)
    async def channels_page(
        request: Request,
        visitor: PageVisitor,
        log: Key = None,
        narrow: Annotated[Key, Query(alias="filter")] = None,
        route: Key = None,
    ) -> HTMLResponse:
        """``log``, ``filter``: the channel whose deliveries or filter are shown; ``route``: the route to change."""
        async with services.db.transaction() as session:
            now = await store.now(session)
            channels = {channel.id: channel for channel in await delivery_read.channels(session)}
            shown = await delivery_read.channel_log(session, log, limit=LOG) if log in channels and log else []
            rules = await route_store.rules(session)
        narrowed, chosen = channels.get(narrow or 0), next((rule for rule in rules if rule.id == route), None)
        return render(
            request,
            "channels.html",
            visitor=visitor,
            now=now,
            channels=list(channels.values()),
            names={channel.id: channel.name for channel in channels.values()},
            routes=[(rule, conditions(rule.match)) for rule in rules],
            logged=channels.get(log or 0),
            deliveries=[(delivery, words.delivery(delivery.state)) for delivery in shown],
            narrowed=narrowed,
            filter_fields=fields(match_of(narrowed.accepts)) if narrowed else [],
            chosen=chosen,
            route_fields=fields(chosen.match if chosen else None),
        )

    @pages.post(HERE)
    async def add(
        request: Request,
        visitor: FormVisitor,
        name: Text,
        kind: Text,
        url: Text = "",
        token: Text = "",
        place: Text = "",
    ) -> Response:
        given = {"url": url.strip(), "token": token.strip(), "conversation": place.strip()}
        if not name.strip():
            raise InputError("the channel has no name", hint="go back and give it one")
        async with services.db.transaction() as session:
            _, secret = await channel_actions.add(
                session,
                services.settings,
                services.secrets,
                by(request, visitor),
                name=name.strip()[:100],
                kind=kind,
                given={key: value for key, value in given.items() if value},
            )
        if secret is None:
            return see_other(f"{HERE}?done=saved")
        return render(request, "channel_secret.html", visitor=visitor, name=name.strip(), secret=secret)

    @pages.post(HERE + "/{channel_id:int}/filter")
    async def narrow(request: Request, visitor: FormVisitor, channel_id: Id, match: Asked) -> Response:
        """What the channel wants to hear; nothing ticked or written: everything."""
        async with services.db.transaction() as session:
            await channel_actions.change(
                session, services.settings, services.secrets, by(request, visitor), channel_id, accepts=match
            )
        return see_other(f"{HERE}?done=saved")

    @pages.post(HERE + "/{channel_id:int}/{action}")
    async def act(request: Request, visitor: FormVisitor, channel_id: Id, action: str) -> Response:
        who = by(request, visitor)
        settings, secrets = services.settings, services.secrets
        async with services.db.transaction() as session:
            if action == "test":
                await channel_actions.test(session, settings, who, channel_id)
                return see_other(f"{HERE}?log={channel_id}&done=tested#log")
            if action == "rotate":
                secret = await channel_actions.rotate(session, secrets, who, channel_id)
                return render(request, "channel_secret.html", visitor=visitor, name="", secret=secret)
            if action == "remove":
                await channel_actions.remove(session, secrets, who, channel_id)
            elif action in {"enable", "disable"}:
                on = action == "enable"
                await channel_actions.change(session, settings, secrets, who, channel_id, enabled=on)
            else:
                raise InputError("there is no such button", hint="go back and reload the page")
        return see_other(f"{HERE}?done=saved")

    @pages.post("/deliveries/{delivery_id:int}/redeliver")
    async def redeliver(request: Request, visitor: FormVisitor, delivery_id: Id) -> Response:
        async with services.db.transaction() as session:
            row = await channel_actions.redeliver(session, by(request, visitor), delivery_id)
        return see_other(f"{HERE}?log={row.channel_id}&done=again#log")

    @pages.post("/settings/routes")
    async def add_route(
        request: Request,
        visitor: FormVisitor,
        match: Asked,
        name: Text,
        channel: Annotated[list[int] | None, Form()] = None,
        goes_on: Text = "",
    ) -> Response:
        if not name.strip() or not channel:
            raise InputError("a route needs a name and a channel", hint="go back and choose them")
        async with services.db.transaction() as session:
            await channel_actions.add_route(
                session,
                by(request, visitor),
                name=name.strip()[:100],
                match=match,
                channels=channel,
                goes_on=bool(goes_on),
            )
        return see_other(f"{HERE}?done=saved")

    @pages.post("/settings/routes/{route_id:int}/change")
    async def change_route(
        request: Request,
        visitor: FormVisitor,
        match: Asked,
        route_id: Id,
        channel: Annotated[list[int] | None, Form()] = None,
        goes_on: Text = "",
    ) -> Response:
        if not channel:
            raise InputError("a route needs a channel", hint="go back and choose one, or remove the route")
        async with services.db.transaction() as session:
            who = by(request, visitor)
            await channel_actions.change_route(
                session, who, route_id, match=match, channels=channel, goes_on=bool(goes_on)
            )
        return see_other(f"{HERE}?done=saved")

    @pages.post("/settings/routes/{route_id:int}/{action}")
    async def act_on_route(request: Request, visitor: FormVisitor, route_id: Id, action: str) -> Response:
        async with services.db.transaction() as session:
            if action == "remove":
                await channel_actions.remove_route(session, by(request, visitor), route_id)
            elif action == "up":
                await _up(session, by(request, visitor), route_id)
            else:
                raise InputError("there is no such button", hint="go back and reload the page")
        return see_other(f"{HERE}?done=saved")

    return pages


async def _up(session: AsyncSession, who: By, route_id: int) -> None:
    ids = [rule.id for rule in await route_store.rules(session)]
    at = ids.index(route_id) if route_id in ids else 0
    if at:
        ids[at - 1], ids[at] = ids[at], ids[at - 1]
        await channel_actions.order_routes(session, who, ids)
