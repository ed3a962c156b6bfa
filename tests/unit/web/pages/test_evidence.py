from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from driftwatch.web.pages import evidence_line, evidence_list
from driftwatch.web.pages.evidence_views import Evidence, Happened, Marked, Stretch

NOW = datetime(2026, 11, 30, 14, 0, tzinfo=UTC)


def ago(**length: float) -> datetime:
    return NOW - timedelta(**length)


def change(key: int, at: datetime, tool: str = "get_order", changeset: int | None = None) -> Happened:
    return Happened(
        key, changeset or key, tool, "changed", 2, "breaking", "declared", "output", "silent", "restart", at
    )


def test_a_gap_lies_between_streams_and_after_one_that_ended() -> None:
    streams = [
        Stretch("modern", ago(days=9), ago(days=5), "server"),
        Stretch("modern", ago(days=4), ago(days=1), "us"),
    ]
    assert evidence_list.gaps(streams, NOW) == [(ago(days=5), ago(days=4)), (ago(days=1), NOW)]
    still = [*streams, Stretch("modern", ago(days=1), ago(seconds=3), "open")]
    assert evidence_list.gaps(still, NOW) == [(ago(days=5), ago(days=4))]
    assert evidence_list.gaps([], NOW) == []


def test_overlapping_streams_leave_no_gap() -> None:
    streams = [Stretch("modern", ago(days=9), ago(days=1), "us"), Stretch("modern", ago(days=8), ago(days=7), "us")]
    assert evidence_list.gaps(streams, NOW) == [(ago(days=1), NOW)]


def test_everything_lies_on_one_axis() -> None:
    at = ago(days=45)
    seen = Evidence(
        streams=(Stretch("modern", ago(days=80), ago(seconds=2), "open"),),
        notified=(Marked("modern", at, "answered a change"),),
        restarts=(Marked("modern", at, "session lost"),),
        changes=(change(1, at),),
    )
    line = evidence_line.draw(seen, ["modern", "legacy"], NOW, server="orders", chosen="90d")
    assert {mark.x for mark in (*line.notified, *line.restarts, *line.changes)} == {645.5}
    assert line.lanes[0].held[0].x < 645.5 < line.lanes[0].held[0].x + line.lanes[0].held[0].width
    assert line.lanes[1].held == ()
    assert "/changes/1" in [event.href for event in line.events]
    assert line.changes[0].sub == "breaking, silent: restart"
    assert "1 of 2 streams held" in line.description


def test_a_deploy_of_many_tools_is_one_dot_and_labels_do_not_overlap() -> None:
    many = tuple(change(i, ago(minutes=5), f"tool{i}", changeset=7) for i in range(1, 162))
    crowd = tuple(change(200 + i, ago(days=1, minutes=i)) for i in range(50))
    line = evidence_line.draw(Evidence(changes=(*crowd, *many)), ["modern"], NOW, server="files", chosen="90d")
    assert len(line.changes) == 51
    assert line.changes[-1].label == "161 tools"
    assert line.events[0].href == "/changesets/7"
    labelled = [mark for mark in line.changes if mark.label]
    for left, right in pairwise(labelled):
        assert left.x < right.x - max(len(right.label), len(right.sub)) * 6


def test_the_list_says_what_the_drawing_shows_newest_first_and_only_of_the_range() -> None:
    seen = Evidence(
        streams=(Stretch("modern", ago(days=5), ago(days=4), "server"), Stretch("modern", ago(days=2), NOW, "open")),
        restarts=(Marked("legacy", ago(days=3), "refused"),),
        changes=(change(1, ago(hours=1)), change(2, ago(days=80))),
    )
    line = evidence_line.draw(seen, ["modern"], NOW, server="x", chosen="7d")
    assert [event.state.word for event in line.events] == [
        "breaking",
        "listening",
        "restart",
        "not listening",
        "listening",
    ]
    assert "after 2 d" in line.events[1].text
    assert line.events[2].text == "refused, seen as 2025-11-25 clients"
