"""What is known of a server, between the pages' views and the API. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import cast

from driftwatch.history.as_of import ToolAsOf
from driftwatch.history.views import Hearing
from driftwatch.web.api.models import (
    Announcement,
    AsOfOut,
    EraName,
    GapOut,
    HappenedOut,
    HearingOut,
    MarkOut,
    NoteOut,
    PollEventOut,
    PollsOut,
    StretchOut,
    TimelineOut,
    ToolAsOfOut,
    UncertainOut,
    Verdict,
    WindowOut,
)
from driftwatch.web.pages import evidence_list
from driftwatch.web.pages.evidence_store import CAP, CAP_CHANGES
from driftwatch.web.pages.evidence_views import Evidence, Happened, Marked, Stretch
from driftwatch.web.pages.found import Note
from driftwatch.web.pages.models import PollEventLine, Polls, ProfileLine


def timeline_out(server_id: int, found: Evidence, since: datetime, until: datetime) -> TimelineOut:
    """The time axis of a server."""
    sizes = {
        "streams": (found.streams, CAP),
        "notifications": (found.notified, CAP),
        "restarts": (found.restarts, CAP),
        "changes": (found.changes, CAP_CHANGES),
    }
    return TimelineOut(
        server_id=server_id,
        since=since,
        until=until,
        streams=[
            StretchOut(era=cast("EraName", one.era), start=one.start, end=one.end, ended_by=one.ended_by)
            for one in found.streams
        ],
        gaps=_gaps(found.streams, until),
        notifications=[_mark(one) for one in found.notified],
        restarts=[_mark(one) for one in found.restarts],
        changes=[_happened(one) for one in found.changes],
        cut=[kind for kind, (rows, most) in sizes.items() if len(rows) >= most],
    )


def _gaps(streams: Sequence[Stretch], until: datetime) -> list[GapOut]:
    by_era = defaultdict[str, list[Stretch]](list)
    for stream in streams:
        by_era[stream.era].append(stream)
    return [
        GapOut(era=cast("EraName", era), start=start, end=end)
        for era, group in by_era.items()
        for start, end in evidence_list.gaps(group, until)
    ]


def _mark(one: Marked) -> MarkOut:
    return MarkOut(era=cast("EraName", one.era), at=one.at, note=one.note)


def _happened(one: Happened) -> HappenedOut:
    return HappenedOut(
        change_id=one.change_id,
        changeset_id=one.changeset_id,
        tool=one.tool,
        kind=one.kind,
        version=one.number,
        verdict=cast("Verdict | None", one.verdict),
        announcement=cast("Announcement | None", one.announcement),
        announcement_reason=one.reason,
        at=one.at,
    )


def hearing_out(profile: ProfileLine, hearing: Hearing) -> HearingOut:
    """Whether one kind of client could hear of a change."""
    return HearingOut(
        profile_id=profile.id,
        era=cast("EraName", profile.era),
        list_changed_declared=profile.list_changed_declared,
        state=hearing.state,
        reason=hearing.reason,
        since=hearing.since,
        verified_until=hearing.verified_until,
        gaps=hearing.gaps,
        notifications=hearing.notifications,
        unanswered=hearing.unanswered,
        noisy=hearing.noisy,
    )


def note_out(tool: str, note: Note) -> NoteOut:
    """A conformance finding."""
    return NoteOut(tool=tool, rule=note.rule, pointer=note.where, message=note.message)


def polls_out(polls: Polls) -> PollsOut:
    """How polls went."""
    return PollsOut(
        polls=polls.polls,
        unchanged=polls.unchanged,
        errors=polls.errors,
        mean_ms=polls.mean_ms,
        max_ms=polls.max_ms,
    )


def poll_event_out(event: PollEventLine) -> PollEventOut:
    """A moment at which polls began to end differently."""
    return PollEventOut(
        id=event.id, at=event.at, era=cast("EraName", event.era), outcome=event.outcome, message=event.message
    )


def as_of_out(server_id: int, at: datetime, since: datetime | None, tools: Sequence[ToolAsOf]) -> AsOfOut:
    """The tool list at a moment."""
    return AsOfOut(
        server_id=server_id,
        at=at,
        watched_since=since,
        before_watching=since is None or at < since,
        tools=[
            ToolAsOfOut(
                tool_id=tool.tool_id,
                tool=tool.name,
                era=cast("EraName", tool.era),
                version=tool.number,
                uncertain=None
                if tool.maybe is None
                else UncertainOut(window=WindowOut(start=tool.maybe[0], end=tool.maybe[1]), version=tool.next_number),
            )
            for tool in tools
        ],
    )
