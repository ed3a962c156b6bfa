"""Who is told: channels with their state, routes in order, what was sent; and what people asked not to hear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, Response
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts import channel_actions, delivery_read, quiet_store, route_store
from driftwatch.alerts.actions import By, end_ignore, end_maintenance, end_mute
from driftwatch.alerts.policy import DEFAULT_LINES
from driftwatch.alerts.quiet_tables import IgnoreRule, MaintenanceWindow, Mute, PolicyChange
from driftwatch.alerts.routes import Match, match_of
from driftwatch.errors import InputError
from driftwatch.web.auth.dependencies import FormVisitor, PageVisitor, Visitor
from driftwatch.web.pages import store, words
from driftwatch.web.pages.forms import Id, Text, see_other
from driftwatch.web.pages.render import render

if TYPE_CHECKING:
    from driftwatch.app import Services

LOG: Final = 50
HERE: Final = "/settings/channels"


def router(services: Services) -> APIRouter:
    """The page and its forms."""
    pages = APIRouter()

    @pages.get(HERE)
    async def channels_page(request: Request, visitor: PageVisitor, log: int | None = None) -> HTMLResponse:
        async with services.db.transaction() as session:
            now = await store.now(session)
            channels = await delivery_read.channels(session)
            chosen = log if any(channel.id == log for channel in channels) else None
            shown = await delivery_read.channel_log(session, chosen, limit=LOG) if chosen is not None else []
            return render(
                request,
                "channels.html",
                visitor=visitor,
                now=now,
                channels=channels,
                names={channel.id: channel.name for channel in channels},
                routes=[(rule, conditions(rule.match)) for rule in await route_store.rules(session)],
                chosen=chosen,
                deliveries=[(delivery, words.delivery(delivery.state)) for delivery in shown],
                mutes=await quiet_store.listed(session, Mute, all_of_them=False),
                ignores=await quiet_store.listed(session, IgnoreRule, all_of_them=False),
                windows=await quiet_store.listed(session, MaintenanceWindow, all_of_them=False),
                changes=await quiet_store.listed(session, PolicyChange, all_of_them=True),
                lines=DEFAULT_LINES,
                servers=await store.server_names(session),
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
        name: Text,
        channel: Annotated[list[int] | None, Form()] = None,
        tags: Text = "",
        owners: Text = "",
        servers: Text = "",
        tools: Text = "",
        severities: Annotated[list[str] | None, Form()] = None,
        goes_on: Text = "",
    ) -> Response:
        asked = {"tags": _split(tags), "owners": _split(owners), "servers": _split(servers), "tools": _split(tools)}
        match = match_of({**asked, "severities": severities or []})
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

    @pages.post("/settings/routes/{route_id:int}/{action}")
    async def act_on_route(request: Request, visitor: FormVisitor, route_id: Id, action: str) -> Response:
        async with services.db.transaction() as session:
            if action == "remove":
                await channel_actions.remove_route(session, by(request, visitor), route_id)
            elif action == "up":
                await _up(session, by(request, visitor), route_id)
        return see_other(f"{HERE}?done=saved")

    @pages.post("/settings/quiet/{kind}/{row_id:int}/end")
    async def end(request: Request, visitor: FormVisitor, kind: str, row_id: Id) -> Response:
        ends = {"mute": end_mute, "ignore": end_ignore, "maintenance": end_maintenance}
        if kind not in ends:
            raise InputError("there is no such button", hint="go back and reload the page")
        async with services.db.transaction() as session:
            await ends[kind](session, by(request, visitor), row_id)
        return see_other(f"{HERE}?done=saved")

    return pages


def by(request: Request, visitor: Visitor) -> By:
    """The person behind a form."""
    return By(visitor.caller.actor, request.state.request_id)


def conditions(match: Match) -> list[tuple[str, str]]:
    """What a route asks for, as chips: field and wanted values."""
    found = [(name, getattr(match, name)) for name in Match.__struct_fields__]
    return [(name, ", ".join(values)) for name, values in found if values]


async def _up(session: AsyncSession, who: By, route_id: int) -> None:
    ids = [rule.id for rule in await route_store.rules(session)]
    at = ids.index(route_id) if route_id in ids else 0
    if at:
        ids[at - 1], ids[at] = ids[at], ids[at - 1]
        await channel_actions.order_routes(session, who, ids)


def _split(text: str) -> list[str]:
    return [piece.strip() for piece in text.split(",") if piece.strip()]
