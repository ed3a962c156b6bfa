"""What a change stream comes to, one event at a time. Pure data; times are the database's clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

UndeliverableReason = Literal["get-405", "no-session", "listen-404", "ack-omits-tools"]
EndReason = Literal["finished", "closed", "broken", "too-large"]


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """From now on the server would tell us. ``noise_until``: until then a list_changed is only the server's start."""

    at: datetime
    noise_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Heard:
    """Bytes arrived: an event, or a keep-alive."""

    at: datetime


@dataclass(frozen=True, slots=True)
class Notified:
    """The server said that its tool list changed."""

    at: datetime


@dataclass(frozen=True, slots=True)
class Ended:
    """The last event of an acknowledged stream.

    ``finished``: with the result that ends a subscription; ``closed``: by a proper end; ``broken``: in the middle;
    ``too-large``: we ended it, because it said more than any honest stream would.
    """

    at: datetime
    by: Literal["us", "server"]
    why: EndReason

    @property
    def properly(self) -> bool:
        """True when the end itself arrived: then nothing before it was lost."""
        return self.why in ("finished", "closed")


@dataclass(frozen=True, slots=True)
class Undeliverable:
    """The only event of a server that declares listChanged and offers no stream that could carry it."""

    at: datetime
    reason: UndeliverableReason


@dataclass(frozen=True, slots=True)
class Limited:
    """The only event of a server that holds as many subscriptions as it wants to."""

    at: datetime


StreamEvent = Acknowledged | Heard | Notified | Ended | Undeliverable | Limited
