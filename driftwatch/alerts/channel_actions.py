"""What people do with channels and routes. Each action and its audit row are one transaction, the caller's.

Configurations are secrets: they come in, are sealed, and never come out again; audit rows say only that they changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final
from uuid import uuid4

from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts import channel_store, outbox_store, route_store, store
from driftwatch.alerts.actions import By, audit
from driftwatch.alerts.channels import config as configs
from driftwatch.alerts.channels.slack.session import SlackSession
from driftwatch.alerts.default_channel import Box
from driftwatch.alerts.dispatch import send_to
from driftwatch.alerts.events import summary_of
from driftwatch.alerts.message import Link, Message, Paragraph
from driftwatch.alerts.notice import SLACK_WEBHOOK, WEBHOOK, Notice
from driftwatch.alerts.route_tables import Route
from driftwatch.alerts.routes import Destination, Facts, Match
from driftwatch.alerts.tables import Channel, Outbox
from driftwatch.db.stored import row_id
from driftwatch.errors import ConflictError, InputError, WireError
from driftwatch.settings import Settings
from driftwatch.wire.urls import checked_url

#: after a rotation the old secret signs too for this long
ROTATION: Final = timedelta(hours=24)


async def add(
    session: AsyncSession,
    settings: Settings,
    secrets: Box,
    by: By,
    *,
    name: str,
    kind: str,
    given: Mapping[str, Any],
    accepts: Match | None = None,
) -> tuple[Channel, str | None]:
    """A new channel, and the signing secret its receiver needs (webhooks only), shown this once.

    Raises ConflictError, InputError.
    """
    plain = checked(settings, kind, given)
    if await channel_store.channel_named(session, name) is not None:
        raise ConflictError(f"There is a channel {name!r} already.", hint="Choose another name.")
    channel = await channel_store.add_channel(session, name, kind, secrets.seal(plain)[0])
    channel.accepts = None if accepts is None else route_store.stored(accepts)
    session.add(channel)
    await audit(session, by, "channel.add", f"channel {name}", after={"kind": kind, "accepts": channel.accepts})
    return channel, configs.secret_of(kind, plain)


async def change(
    session: AsyncSession,
    settings: Settings,
    secrets: Box,
    by: By,
    channel_id: int,
    *,
    name: str | None = None,
    given: Mapping[str, Any] | None = None,
    accepts: Match | None = None,
    enabled: bool | None = None,
) -> Channel:
    """Rename, replace the configuration, filter, enable or disable. What waits goes out once it is enabled.

    Raises NotFoundError, ConflictError, InputError.
    """
    channel = await channel_store.lock_channel(session, channel_id)
    before = {"name": channel.name, "state": channel.state, "accepts": channel.accepts}
    if name is not None and name != channel.name:
        if await channel_store.channel_named(session, name) is not None:
            raise ConflictError(f"There is a channel {name!r} already.", hint="Choose another name.")
        channel.name = name
    if given is not None:
        channel.config = secrets.seal(checked(settings, channel.kind, given))[0]
    if accepts is not None:
        channel.accepts = route_store.stored(accepts) or None
    if enabled is not None:
        channel.state = "enabled" if enabled else "disabled"
        channel.disabled_reason = None if enabled else f"switched off by {by.actor}"
        channel.refusals, channel.paused_until = 0, None
    session.add(channel)
    after = {"name": channel.name, "state": channel.state, "accepts": channel.accepts}
    after |= {"config": "replaced"} if given is not None else {}
    await audit(session, by, "channel.change", f"channel {channel.name}", before=before, after=after)
    return channel


async def rotate(session: AsyncSession, secrets: Box, by: By, channel_id: int) -> str:
    """A new signing secret for a webhook; the old one signs too for a day. The new one is shown this once."""
    channel = await channel_store.lock_channel(session, channel_id)
    if channel.kind != WEBHOOK:
        raise InputError("Only webhooks are signed.", hint="Replace the channel's configuration instead.")
    plain = configs.rotated(secrets.open(channel.config), until=await store.now(session) + ROTATION)
    channel.config = secrets.seal(plain)[0]
    await audit(session, by, "channel.rotate", f"channel {channel.name}")
    return configs.secret_of(WEBHOOK, plain) or ""


async def remove(session: AsyncSession, secrets: Box, by: By, channel_id: int) -> None:
    """Remove a channel: its secret is wiped, its log stays, routes forget it. Raises NotFoundError."""
    channel = await channel_store.lock_channel(session, channel_id)
    name = channel.name
    channel.name, channel.state, channel.config = f"{name} (removed {channel_id})", "deleted", secrets.seal(b"")[0]
    await channel_store.bury(session, channel_id)
    for route in await route_store.all_routes(session):
        route.channels = [each for each in route.channels if each != channel_id]
    await audit(session, by, "channel.remove", f"channel {name}")


async def test(session: AsyncSession, settings: Settings, by: By, channel_id: int) -> int:
    """Send a test message to one channel, whatever routes and filters say; the id of the delivery."""
    channel = await channel_store.lock_channel(session, channel_id)
    if channel.state != "enabled":
        raise ConflictError("The channel is out of service.", hint="Enable it first.")
    title = "Test message from driftwatch"
    message = Message(
        title,
        title,
        (
            Paragraph("text", f"This channel works: {by.actor} asked for this message."),
            Paragraph("do", "nothing; alerts will look like this one."),
        ),
        (Link(f"{settings.public_url}/settings/channels", "Open channels"),),
    )
    notice = Notice(
        event="test",
        group=f"test-{uuid4().hex}",
        ordering="test",
        message=message,
        facts=Facts("test", "test"),
        data=summary_of(message),
    )
    destination = Destination(channel_id, channel.name, channel.kind, True, "", f"a test by {by.actor}")
    await send_to(session, notice, destination)
    await audit(session, by, "channel.test", f"channel {channel.name}")
    return await outbox_store.id_of(session, notice.group, channel_id)


async def redeliver(session: AsyncSession, by: By, outbox_id: int) -> Outbox:
    """Send a finished delivery again, under the same id. Raises NotFoundError, ConflictError."""
    row = await outbox_store.redeliver(session, outbox_id)
    await audit(session, by, "delivery.again", f"delivery/{outbox_id}")
    return row


async def add_route(
    session: AsyncSession, by: By, *, name: str, match: Match, channels: Sequence[int], goes_on: bool = False
) -> Route:
    """A new route behind all others. Raises ConflictError, NotFoundError."""
    if await route_store.route_named(session, name) is not None:
        raise ConflictError(f"There is a route {name!r} already.", hint="Choose another name.")
    await _known(session, channels)
    row = await route_store.add_route(session, name, match, list(channels), goes_on=goes_on)
    after = {"match": row.match, "channels": row.channels, "goes_on": goes_on}
    await audit(session, by, "route.add", f"route {name}", after=after)
    return row


async def change_route(
    session: AsyncSession,
    by: By,
    route_id: int,
    *,
    match: Match | None = None,
    channels: Sequence[int] | None = None,
    goes_on: bool | None = None,
) -> Route:
    """Change what a route matches or where it leads. Raises NotFoundError."""
    row = await route_store.lock_route(session, route_id)
    before = {"match": row.match, "channels": row.channels, "goes_on": row.goes_on}
    if match is not None:
        row.match = route_store.stored(match)
    if channels is not None:
        await _known(session, channels)
        row.channels = list(channels)
    if goes_on is not None:
        row.goes_on = goes_on
    after = {"match": row.match, "channels": row.channels, "goes_on": row.goes_on}
    await audit(session, by, "route.change", f"route {row.name}", before=before, after=after)
    return row


async def remove_route(session: AsyncSession, by: By, route_id: int) -> None:
    """Remove a route. Raises NotFoundError."""
    row = await route_store.lock_route(session, route_id)
    await session.delete(row)
    await audit(session, by, "route.remove", f"route {row.name}", before={"match": row.match})


async def order_routes(session: AsyncSession, by: By, ids: Sequence[int]) -> None:
    """Put the routes into this order; every route must be named once. Raises InputError."""
    rows = {row_id(row.id): row for row in await route_store.all_routes(session)}
    if sorted(ids) != sorted(rows):
        raise InputError("Name every route exactly once.", hint=f"The routes: {sorted(rows)}.")
    for position, route_id in enumerate(ids, 1):
        rows[route_id].position = position
    await audit(session, by, "route.order", "routes", after=list(ids))


def checked(settings: Settings, kind: str, given: Mapping[str, Any]) -> bytes:
    """The configuration to seal. Raises InputError for an address that messages may not be sent to."""
    plain = configs.read(kind, given)
    url = configs.url_of(kind, plain)
    if kind == SLACK_WEBHOOK and url is not None:
        SlackSession(settings).check(url)
    elif url is not None:
        try:
            checked_url(url)
        except WireError as error:
            raise InputError(error.message, hint="Give the receiver's whole URL.") from None
    return plain


async def _known(session: AsyncSession, channels: Sequence[int]) -> None:
    for channel_id in channels:
        await channel_store.lock_channel(session, channel_id)
