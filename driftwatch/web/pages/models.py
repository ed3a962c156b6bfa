"""What the pages' own reads answer. Pure data; names, errors and findings may hold server text (templates escape)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from driftwatch.history.views import Hearing, WeekView
from driftwatch.servers.credential_state import CredentialView

#: states of a profile while nothing is wrong with its polls
NOT_FAILING: Final = ("ok", "new")


@dataclass(frozen=True, slots=True)
class ProfileLine:
    """One kind of client of a server, and how its polls go.

    ``state`` is ``new`` before the first complete poll, ``ok`` after one, else a failure code. ``hearing``: whether we
    listen, where that was asked for. ``unsettled``: tools whose definition does not hold still, where asked for.
    ``order_moves``: how often the order of the list moved on the day of ``order_moved_at``.
    """

    id: int
    server_id: int
    era: str
    state: str
    protocol_version: str | None
    server_info: Mapping[str, Any] | None
    list_changed_declared: bool | None
    tool_count: int | None
    last_poll_at: datetime | None
    next_due_at: datetime | None
    failing_since: datetime | None
    failures: int
    last_error: Mapping[str, Any] | None
    duration_ms: float | None
    polls_survived: int
    ttl_ms: int | None = None
    cache_scope: str | None = None
    hearing: Hearing | None = None
    unsettled: tuple[str, ...] = ()
    order_moves: int = 0
    order_moved_at: datetime | None = None

    @property
    def failing(self) -> bool:
        """True while the newest poll failed."""
        return self.state not in NOT_FAILING


@dataclass(frozen=True, slots=True)
class ServerLine:
    """A registered server as it was registered. ``pushed``: nobody polls it, and it has no URL."""

    id: int
    name: str
    url: str
    owner: str | None
    tags: tuple[str, ...]
    interval_seconds: int
    mode: str
    state: str
    created_at: datetime
    transitive: bool = False
    pushed: bool = False
    credential: CredentialView | None = None


@dataclass(frozen=True, slots=True)
class LastChange:
    """The newest change of a server."""

    id: int
    verdict: str | None
    via: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class Watched:
    """The little of a server that tells how it stands.

    ``failing``: the newest poll of some kind of client failed; ``unsettled``: some tool does not hold still.
    """

    id: int
    name: str
    state: str
    failing: bool
    last_poll_at: datetime | None
    unsettled: bool = False


@dataclass(frozen=True, slots=True)
class FleetRow:
    """A server of the overview with everything its line says."""

    server: ServerLine
    profiles: tuple[ProfileLine, ...]
    last_change: LastChange | None
    weeks: tuple[WeekView, ...]


@dataclass(frozen=True, slots=True)
class ToolHead:
    """What a tool page is about."""

    id: int
    name: str
    server_id: int
    server: str
    owner: str | None
    mode: str
    era: str
    profile_id: int


@dataclass(frozen=True, slots=True)
class Polls:
    """Polls of a server since the day before (UTC), over its profiles."""

    polls: int
    unchanged: int
    errors: int
    mean_ms: float | None
    max_ms: float | None


@dataclass(frozen=True, slots=True)
class PollEventLine:
    """A moment at which polls of a profile began to end differently."""

    id: int
    at: datetime
    era: str
    outcome: str
    message: str | None
