"""Where messages go, what became of them, and which route they take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from driftwatch.client.noun import Noun
from driftwatch.web.api.models import (
    ChannelAdded,
    ChannelIn,
    ChannelOut,
    ChannelPatch,
    DeliveryOut,
    RouteIn,
    RouteOut,
    RoutePatch,
    SecretOut,
)


class Channels(Noun):
    """Slack channels and webhooks. Secrets go in and never come out again."""

    def every(self) -> list[ChannelOut]:
        """All channels with what waits for them."""
        return self._api.get("/channels", list[ChannelOut])

    def add(self, channel: ChannelIn) -> ChannelAdded:
        """Add one; a webhook's signing secret is in the answer, this once."""
        return self._api.post("/channels", ChannelAdded, body=channel)

    def change(self, channel_id: int, patch: ChannelPatch) -> ChannelOut:
        """Change the fields that are set."""
        return self._api.patch("/channels/{channel_id}", ChannelOut, body=patch, channel_id=channel_id)

    def remove(self, channel_id: int) -> None:
        """Remove it; its log stays."""
        self._api.delete("/channels/{channel_id}", channel_id=channel_id)

    def test(self, channel_id: int) -> DeliveryOut:
        """Send a test message; look at the delivery again for what the channel answered."""
        return self._api.post("/channels/{channel_id}/test", DeliveryOut, channel_id=channel_id)

    def rotate_secret(self, channel_id: int) -> SecretOut:
        """A new signing secret; the old one signs too for a day."""
        return self._api.post("/channels/{channel_id}/rotate-secret", SecretOut, channel_id=channel_id)

    def deliveries(
        self, channel_id: int, *, state: Literal["queued", "leased", "delivered", "dead"] | None = None
    ) -> Iterator[DeliveryOut]:
        """What it was sent, newest first."""
        path = "/channels/{channel_id}/deliveries"
        return self._api.pages(path, DeliveryOut, {"state": state}, channel_id=channel_id)


class Deliveries(Noun):
    """Single messages to single channels."""

    def get(self, delivery_id: int) -> DeliveryOut:
        """One delivery with every attempt."""
        return self._api.get("/deliveries/{delivery_id}", DeliveryOut, delivery_id=delivery_id)

    def redeliver(self, delivery_id: int) -> DeliveryOut:
        """Send it again."""
        return self._api.post("/deliveries/{delivery_id}/redeliver", DeliveryOut, delivery_id=delivery_id)


class Routes(Noun):
    """Which channels hear of which alerts: the first route that matches decides."""

    def every(self) -> list[RouteOut]:
        """All routes in the order in which they are asked."""
        return self._api.get("/routes", list[RouteOut])

    def add(self, route: RouteIn) -> RouteOut:
        """Add one behind all others."""
        return self._api.post("/routes", RouteOut, body=route)

    def change(self, route_id: int, patch: RoutePatch) -> RouteOut:
        """Change the fields that are set."""
        return self._api.patch("/routes/{route_id}", RouteOut, body=patch, route_id=route_id)

    def remove(self, route_id: int) -> None:
        """Remove one; its channels stay."""
        self._api.delete("/routes/{route_id}", route_id=route_id)

    def order(self, ids: list[int]) -> list[RouteOut]:
        """Put them in order; every route is named once."""
        return self._api.put("/routes/order", list[RouteOut], body=ids)
