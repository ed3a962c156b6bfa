"""A tool's versions and comparisons as text; a server's tools; what a first look found."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from driftwatch.alerts.transitive import Against
from driftwatch.alerts.views import BaselineView
from driftwatch.capture.model import ConformanceFinding
from driftwatch.errors import NotFoundError
from driftwatch.history.views import IntervalView, ListView, ToolView, VersionView
from driftwatch.servers.model import FoundEra, FoundTool, Preview, Problem
from driftwatch.web.pages import conformance, found, lineage, raw, watched
from driftwatch.web.pages.definitions import Definition
from driftwatch.wire.facts import Era


def versions(sample: Any, *, gone: bool = False) -> list[VersionView]:
    """v1 for 24 days, v2 for 49 days, v3 since two minutes ago (or gone then)."""
    ends = [sample.now - timedelta(days=49), sample.end, sample.now if gone else None]
    starts = [sample.now - timedelta(days=73), sample.now - timedelta(days=49), sample.end]
    found = [
        VersionView(10 + n, n, start, {}, None, (), (IntervalView(None, start, end),))
        for n, (start, end) in enumerate(zip(starts, ends, strict=True), start=1)
    ]
    return found[::-1]


def baseline(number: int | None, mode: str = "person", **more: Any) -> BaselineView:
    return BaselineView(5, None if number is None else 10 + number, number, mode, **more)


@pytest.mark.parametrize(
    ("accepted", "wanted", "expected"),
    [
        (None, ("", ""), (2, 3)),
        (1, ("", ""), (1, 3)),
        (3, ("", ""), (2, 3)),
        (1, ("2", ""), (2, 3)),
        (1, ("v2", "v2"), (2, 2)),
        (2, ("baseline", "3"), (2, 3)),
        (None, ("baseline", "3"), (3, 3)),
        (2, ("first", ""), (1, 3)),
        (None, ("3", "1"), (3, 1)),
    ],
)
def test_which_two_versions_are_compared(
    sample: Any, accepted: int | None, wanted: tuple[str, str], expected: tuple[int, int]
) -> None:
    known = None if accepted is None else baseline(accepted)
    pair = lineage.pair(versions(sample), known, wanted)
    assert (pair.old.number, pair.new.number) == expected
    assert pair.same == (expected[0] == expected[1])


@pytest.mark.parametrize("wanted", ["9", "x", "-1", "1.5", "²", "99999999999", "'; --"])
def test_a_version_that_does_not_exist_is_not_found(sample: Any, wanted: str) -> None:
    with pytest.raises(NotFoundError):
        lineage.pair(versions(sample), None, (wanted, ""))


def test_of_an_absent_tool_the_last_version_is_shown(sample: Any) -> None:
    assert lineage.current(versions(sample, gone=True)).number == 3
    assert lineage.since(versions(sample, gone=True)) is None
    assert lineage.since(versions(sample)) == sample.end


def test_versions_with_their_times_and_what_led_to_them(sample: Any) -> None:
    change = sample.change(from_version=2, to_version=3)
    rows = lineage.rows(versions(sample), [change], baseline(2), sample.now)
    assert [(row.label, row.current) for row in rows] == [
        ("v3", "since 14:07"),
        ("v2, baseline", "12 Oct – 14:07, 48 d"),
        ("v1", "18 Sep – 12 Oct, 24 d"),
    ]
    assert (rows[0].what, rows[0].href) == ("`status` may now be null, +1 more", "/changes/7")
    assert rows[2].verdict is None


def test_a_definition_that_returned_has_several_times(sample: Any) -> None:
    spans = tuple(
        IntervalView(None, sample.now - timedelta(days=d), sample.now - timedelta(days=d - 1))
        for d in (90, 80, 70, 60, 50)
    )
    (row,) = lineage.rows([VersionView(1, 1, sample.now, {}, None, (), spans)], [], None, sample.now)
    assert row.current.startswith("11 Oct – 12 Oct, 24 h; ")
    assert row.current.endswith("; 2 times before")


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        (None, ""),
        (baseline(None, "first"), "absent, what the first poll saw"),
        (baseline(2, "follow"), "v2, followed"),
        (baseline(2, by="mei", reason="new carrier"), "v2, accepted by mei: “new carrier”"),
    ],
)
def test_how_the_baseline_came_to_be(sample: Any, known: BaselineView | None, expected: str) -> None:
    assert lineage.accepted(known, sample.now) == expected


def text(definition: Any) -> Definition:
    return Definition.of(json.dumps(definition).encode())


def test_raw_text_is_compared_line_by_line() -> None:
    seen = raw.compare(text({"a": 1, "b": 2}), text({"a": 1, "b": 3}))
    assert [(line.sign, line.text.strip()) for line in seen.lines if line.sign in "+-"] == [
        ("-", '"b": 2'),
        ("+", '"b": 3'),
    ]


def test_equal_definitions_have_no_lines() -> None:
    assert raw.compare(text({"a": 1}), text({"a": 1})).lines == ()


def test_a_huge_definition_is_cut_and_counted() -> None:
    huge = text({f"k{i}": "x" * 2000 for i in range(5000)})
    seen = raw.show(huge)
    assert (len(seen.lines), seen.left_out) == (raw.MAX_LINES, 5002 - raw.MAX_LINES)
    assert max(len(line.text) for line in seen.lines) < 1100
    assert raw.compare(huge, huge).left_out == 5002 - raw.MAX_LINES


def tool(key: int, name: str, era: str = "modern", version: int | None = 1, **more: Any) -> ToolView:
    values: dict[str, Any] = {
        "id": key,
        "profile_id": 1,
        "era": era,
        "name": name,
        "version_id": None if version is None else 10 + version,
        "version": version,
        "versions": 1,
        "declares_output": False,
        "invalid": None,
        "findings": (),
        "last_change_id": None,
        "last_change_at": None,
        "last_verdict": None,
    }
    return ToolView(**(values | more))


def test_one_row_a_tool_over_all_kinds_of_clients(sample: Any) -> None:
    tools = [
        tool(
            1,
            "a",
            version=2,
            declares_output=True,
            last_change_id=7,
            last_change_at=sample.end,
            last_verdict="breaking",
        ),
        tool(2, "a", "legacy", version=2),
        tool(3, "b", version=None),
        tool(4, "c"),
        tool(5, "c", "legacy", version=3),
    ]
    rows = watched.tool_rows(tools, {1: baseline(1), 4: baseline(1)}, sample.now)
    assert [(row.name, row.shown) for row in rows] == [
        ("a", ((1, "modern", 2),)),
        ("b", ((3, "modern", None),)),
        ("c", ((4, "modern", 1), (5, "legacy", 3))),
    ]
    assert (rows[0].baseline, rows[0].baseline_href) == ("v1 → v2", "/tools/1?from=baseline")
    assert (rows[2].baseline, rows[2].baseline_href) == ("same", "")
    assert rows[0].last is not None
    assert (rows[0].last.word, rows[0].last.tone) == ("2 min", "breaking")
    assert watched.summary(rows) == "2 tools, of which 1 declare outputs · 1 gone"


def test_what_is_not_as_accepted_comes_first_with_its_verdict(sample: Any) -> None:
    changed = {"version": 4, "last_verdict": "compatible", "last_from_id": 13}
    tools = [
        tool(1, "a"),
        tool(2, "b", version=2, last_change_id=8, last_verdict="breaking", last_via="declared", last_from_id=11),
        tool(3, "c", last_change_id=9, **changed),
        tool(4, "d", last_change_id=10, **changed),
    ]
    accepted = {key: baseline(1) for key in (1, 2, 3, 4)}
    against = {9: Against(11, "undecided", None), 10: Against(12, "breaking", None)}
    rows = watched.tool_rows(tools, accepted, sample.now, against)
    assert [(row.name, row.baseline, row.since.word if row.since else None) for row in rows] == [
        ("b", "v1 → v2", "breaking"),
        ("c", "v1 → v4", "undecided"),
        ("d", "v1 → v4", None),
        ("a", "same", None),
    ]


def test_findings_are_told_once_with_their_tool(sample: Any) -> None:
    raw_finding = {"rule": "hidden-characters", "pointer": "/description", "message": "holds hidden characters"}
    tools = [tool(1, "a", findings=(raw_finding,)), tool(2, "a", "legacy", findings=(raw_finding,))]
    broken = tool(3, "b", invalid={"code": "x", "message": "no object", "scope": "list"})
    whole = ListView(1, "modern", sample.now, None, None, 2, ({"rule": "duplicate-tool", "message": "twice"},))
    told = conformance.notes([whole], [*tools, broken])
    assert [(name, note.rule) for name, note in told] == [
        ("", "duplicate-tool"),
        ("a", "hidden-characters"),
        ("b", "invalid-definition"),
    ]


def test_alerts_with_who_was_told(sample: Any) -> None:
    rows = watched.alert_rows(
        [sample.alert(handled_by="mei", state="accepted")], {sample.alert().id: [sample.delivery()]}
    )
    assert rows[0].title == "Silent breaking change · orders / get_order"
    assert rows[0].told == "#payments · 1 of 1 delivered · accepted by mei"
    assert watched.alert_rows([sample.alert()], {})[0].told == "nobody yet"


def test_a_first_look_in_words() -> None:
    tools = (FoundTool("a", True), FoundTool("b", False, "no object inputSchema"))
    hidden = ConformanceFinding("hidden-characters", "/description", "holds hidden characters")
    modern = FoundEra(Era.MODERN, "2026-07-28", {"name": "shop", "version": "1"}, True, tools, (hidden,))
    legacy = FoundEra(Era.LEGACY, "2025-11-25", None, False, tools[:1])
    told = found.tell(Preview("https://x.test/mcp", (modern, legacy), {}))
    assert [(kind.clients, kind.declares.word, kind.tools) for kind in told.kinds] == [
        ("2026-07-28 clients", "yes", 2),
        ("2025-11-25 clients", "no", 1),
    ]
    assert (told.tools, told.outputs, told.server) == (("a", "b"), 1, "shop 1")
    assert [note.rule for note in told.notes] == ["invalid-definition", "hidden-characters"]


def test_a_look_that_found_one_kind_says_why_not_the_other() -> None:
    preview = Preview("https://x.test/mcp", (), {Era.MODERN: Problem("timeout", "too slow")})
    told = found.tell(preview)
    assert told.problems == (("2026-07-28 clients", "too slow"),)
    assert told.tools == ()
