"""What is known of a server over time: listening, notifications, restarts, polls, findings, the list as it was."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from driftwatch.web.api.models.base import Announcement, EraName, Verdict, WindowOut


class StretchOut(BaseModel):
    """A change stream that was held, from its acknowledgement to the last byte."""

    era: EraName
    start: datetime
    end: datetime
    ended_by: str = Field(description="`open`: it is still held; else who ended it: `us` or `server`.")


class GapOut(BaseModel):
    """A time in which we were not listening: a change then is unknown, never silent."""

    era: EraName
    start: datetime
    end: datetime


class MarkOut(BaseModel):
    """A notification or a sign of a restart."""

    era: EraName
    at: datetime
    note: str


class HappenedOut(BaseModel):
    """A change on the time axis; `version` is the one it led to, None: the tool is gone."""

    change_id: int
    changeset_id: int
    tool: str
    kind: str
    version: int | None
    verdict: Verdict | None
    announcement: Announcement | None
    announcement_reason: str | None
    at: datetime


class TimelineOut(BaseModel):
    """Streams, gaps, notifications, restarts and changes of a server on one time axis, each oldest first."""

    server_id: int
    since: datetime
    until: datetime
    streams: list[StretchOut]
    gaps: list[GapOut]
    notifications: list[MarkOut]
    restarts: list[MarkOut]
    changes: list[HappenedOut]
    cut: list[str] = Field(description="Kinds of which only the newest are here; ask for a shorter time.")


class HearingOut(BaseModel):
    """Whether a change could be announced to one kind of client, and whether we would hear it."""

    profile_id: int
    era: EraName
    list_changed_declared: bool | None
    state: str
    reason: str | None
    since: datetime | None = Field(description="Since when the stream is held; None: none is held now.")
    verified_until: datetime | None
    gaps: int = Field(description="How often a stream ended in the last 90 days.")
    notifications: int = Field(description="In the last 90 days.")
    unanswered: int = Field(description="Notifications after which the list was still the same.")
    noisy: bool


class NoteOut(BaseModel):
    """A conformance finding of what is current; `tool` is empty for the list as a whole."""

    tool: str
    rule: str
    pointer: str
    message: str


class PollEventOut(BaseModel):
    """A moment at which polls of a profile began to end differently."""

    id: int
    at: datetime
    era: EraName
    outcome: str
    message: str | None


class PollsOut(BaseModel):
    """How the polls of a server went since the day before (UTC), over its profiles."""

    polls: int
    unchanged: int
    errors: int
    mean_ms: float | None
    max_ms: float | None


class UncertainOut(BaseModel):
    """The moment lies inside a window of change: it may already have been `version` (None: already gone)."""

    window: WindowOut
    version: int | None


class ToolAsOfOut(BaseModel):
    """A tool at a moment; `version` None: it was not listed."""

    tool_id: int
    tool: str
    era: EraName
    version: int | None
    uncertain: UncertainOut | None


class AsOfOut(BaseModel):
    """The tool list of a server as it was at a moment."""

    server_id: int
    at: datetime
    watched_since: datetime | None
    before_watching: bool = Field(description="True: the moment is before the first list we saw.")
    tools: list[ToolAsOfOut]
