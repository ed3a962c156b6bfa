"""What the pages' own reads answer. Pure data; names, errors and findings may hold server text (templates escape)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from driftwatch.web.pages.spark import Week


@dataclass(frozen=True, slots=True)
class ProfileLine:
    """One kind of client of a server, and how its polls go.

    ``state`` is ``new`` before the first complete poll, ``ok`` after one, else a failure code.
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

    @property
    def failing(self) -> bool:
        """True while the newest poll failed."""
        return self.state not in ("ok", "new")


@dataclass(frozen=True, slots=True)
class ServerLine:
    """A registered server as it was registered."""

    id: int
    name: str
    url: str
    owner: str | None
    tags: tuple[str, ...]
    interval_seconds: int
    mode: str
    state: str
    created_at: datetime
    header_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LastChange:
    """The newest change of a server or a tool."""

    id: int
    verdict: str | None
    announcement: str | None
    part: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class FleetRow:
    """A server of the overview with everything its line says. ``weeks``: changes by whole weeks ago."""

    server: ServerLine
    profiles: tuple[ProfileLine, ...]
    last_change: LastChange | None
    weeks: Mapping[int, Week]


@dataclass(frozen=True, slots=True)
class ToolLine:
    """A tool of one profile. ``number`` None: it is absent now. ``declares_output`` None: not known."""

    id: int
    name: str
    era: str
    number: int | None
    version_id: int | None
    declares_output: bool
    invalid: Mapping[str, Any] | None
    findings: tuple[Mapping[str, Any], ...]
    last_change: LastChange | None


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
class Interval:
    """When a version was current; ``until`` None: it still is."""

    since: datetime
    until: datetime | None


@dataclass(frozen=True, slots=True)
class VersionLine:
    """One version of a tool with the intervals in which it was current, newest first."""

    id: int
    number: int
    digest: str
    invalid: Mapping[str, Any] | None
    intervals: tuple[Interval, ...]


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

    at: datetime
    era: str
    outcome: str
    message: str | None
