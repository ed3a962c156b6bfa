"""The overview's lines, sparks, changelog entries, deploys, and who was told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from driftwatch.alerts.views import AttemptView, ChannelView
from driftwatch.history.as_of import ToolAsOf
from driftwatch.history.views import WeekView
from driftwatch.web.pages import chips, deploy, entries, fleet, past, spark, telling, watched, words
from driftwatch.web.pages.models import FleetRow, LastChange, ProfileLine, ServerLine, Watched

NOW = datetime(2026, 11, 30, 14, 9, 21, tzinfo=UTC)


def server(key: int, name: str, state: str = "active") -> ServerLine:
    return ServerLine(key, name, "https://x.test/mcp", None, ("prod",), 300, "follow", state, NOW)


def profile(state: str = "ok", era: str = "modern", **more: Any) -> ProfileLine:
    values: dict[str, Any] = {
        "id": 1,
        "server_id": 1,
        "era": era,
        "state": state,
        "protocol_version": None,
        "server_info": None,
        "list_changed_declared": False,
        "tool_count": 14,
        "last_poll_at": NOW - timedelta(seconds=38),
        "next_due_at": None,
        "failing_since": NOW - timedelta(hours=2) if state not in ("ok", "new") else None,
        "failures": 0,
        "last_error": {"message": "401, wants scope tools:read"},
        "duration_ms": 84.0,
        "polls_survived": 0,
    }
    return ProfileLine(**(values | more))


def row(key: int, name: str, *profiles: ProfileLine, state: str = "active", last: LastChange | None = None) -> FleetRow:
    return FleetRow(server(key, name, state), profiles, last, ())


def test_a_list_that_clients_may_keep_is_noted_with_how_long() -> None:
    def hint(**more: Any) -> str | None:
        return watched.seen_by([profile(**more)], NOW, paused=False)[0].hint

    assert hint() is None
    assert hint(ttl_ms=0, cache_scope="public") is None
    assert hint(ttl_ms=300_000) == "Clients may keep the list for 5 min: so long they may miss a change."
    assert "5 min, shared caches as well" in (hint(ttl_ms=300_000, cache_scope="public") or "")


def test_servers_that_need_someone_come_first_then_the_unwatched(sample: Any) -> None:
    rows = [
        row(1, "z-needs", profile()),
        row(2, "a-fine", profile()),
        row(3, "m-blind", profile("unauthorized")),
        row(4, "b-paused", profile(), state="paused"),
    ]
    found = fleet.lines(rows, [sample.alert(sample.alert_change())], NOW)
    assert [(line.name, line.standing) for line in found] == [
        ("z-needs", "needs"),
        ("b-paused", "blind"),
        ("m-blind", "blind"),
        ("a-fine", "fine"),
    ]
    assert fleet.tally([line.standing for line in found]) == fleet.Tally(4, 1, 2, 1)
    watched = [
        Watched(one.server.id, one.server.name, one.server.state, any(p.failing for p in one.profiles), NOW)
        for one in rows
    ]
    stands = fleet.standing(watched, [sample.alert(sample.alert_change())])
    assert stands == [(line.id, line.standing) for line in found]
    assert found[0].state.word == "needs you"
    assert found[2].why == "unauthorized since 12:09: 401, wants scope tools:read"
    assert found[3].why == "38 s ago"


def test_one_failing_kind_of_client_is_partly_watched() -> None:
    (line,) = fleet.lines([row(1, "x", profile(), profile("timeout", "legacy"))], [], NOW)
    assert line.state.word == "partly watched"
    assert line.why.startswith("2025-11-25 clients: timed out since 12:09")


def test_a_server_with_a_tool_that_does_not_hold_still_is_not_fine() -> None:
    restless = profile(unsettled=("get_time",))
    (line,) = fleet.lines([row(1, "x", restless, profile(era="legacy", unsettled=("get_time",)))], [], NOW)
    assert (line.state.word, line.standing, line.why) == ("unsettled", "blind", "get_time does not hold still")
    assert line.fix == ("/servers/1#h-find", "see why")
    (line,) = fleet.lines([row(1, "x", profile(unsettled=("", "a")))], [], NOW)
    assert line.why == "what it says of itself and a do not hold still"


def test_a_server_before_its_first_poll() -> None:
    (line,) = fleet.lines([row(1, "x", profile("new", last_poll_at=None, tool_count=None))], [], NOW)
    assert (line.state.word, line.tools, line.standing) == ("first look", "–", "fine")


def test_an_acknowledged_alert_no_longer_needs_you(sample: Any) -> None:
    alert = sample.alert(sample.alert_change(), state="acknowledged", handled_by="sam")
    (line,) = fleet.lines([row(1, "x", profile())], [alert], NOW)
    assert line.why == "38 s ago · acknowledged by sam"
    assert fleet.needs([alert], {}) == []


def test_a_need_tells_the_worst_change_and_how_many_more(sample: Any) -> None:
    alert = sample.alert(
        sample.alert_change(change_id=8, tool="list", verdict="compatible", outcome="history"),
        sample.alert_change(),
        sample.alert_change(change_id=9, tool="other"),
    )
    (need,) = fleet.needs([alert], {7: sample.change()})
    assert need.what == "`status` may now be null, and 1 more tool"
    assert need.why == "Not announced: the server declares no listChanged."
    assert (need.state.word, need.href, need.tool) == ("silent breaking", "/alerts/9", "get_order")


def test_a_need_without_its_change_falls_back_to_the_plain_title(sample: Any) -> None:
    (need,) = fleet.needs([sample.alert(sample.alert_change())], {})
    assert need.what == "Silent breaking change · orders / get_order"


def test_blindness_is_a_need_too(sample: Any) -> None:
    (need,) = fleet.needs([sample.alert(kind="not-watching", title="billing cannot be read")], {})
    assert (need.state.word, need.what, need.href) == ("not watched", "billing cannot be read", "/servers/1")


def test_a_strict_break_is_grey_and_named_as_what_it_is() -> None:
    last = LastChange(7, "breaking", "undeclared-key", NOW - timedelta(days=3))
    (line,) = fleet.lines([row(1, "x", profile(), last=last)], [], NOW)
    assert line.last is not None
    assert (line.last.tone, line.last.quiet, line.last.word) == ("note", True, "3 d")
    assert words.verdict("breaking", "undeclared-key").word == "strict break"
    assert words.verdict("breaking", "declared").word == "breaking"


@pytest.mark.parametrize(
    ("weeks", "blind", "label"),
    [
        ([], 0, "13 weeks: no change"),
        ([WeekView(0, {"breaking": 1}), WeekView(5, {"compatible": 2})], 0, "13 weeks: 3 changes, the latest breaking"),
        ([WeekView(4, {"strict": 1})], 1, "13 weeks: 1 change, the latest compatible; not watched now"),
        ([WeekView(40, {"breaking": 1})], 0, "13 weeks: no change"),
    ],
)
def test_a_spark_has_thirteen_bars_and_says_the_same_in_words(weeks: list[WeekView], blind: int, label: str) -> None:
    drawn = spark.draw(weeks, blind_weeks=blind)
    assert len(drawn.bars) + drawn.quiet.count("M") == spark.WEEKS
    assert drawn.label == label
    assert all(
        bar.y >= 0 and bar.y + bar.height <= 20 and bar.x >= 0 and bar.x + bar.width <= 120 for bar in drawn.bars
    )
    assert (drawn.bars[-1].tone if drawn.bars else "") == (
        "breaking" if "the latest breaking" in label else "off" if blind else ""
    )


def test_one_deploy_is_one_entry_and_the_worst_change_speaks(sample: Any) -> None:
    quiet = sample.change(id=6, tool="list", tool_id=6, verdict="compatible", parts=())
    other = sample.change(id=5, changeset_id=2, verdict="compatible", parts=())
    found = entries.gather([sample.change(), quiet, other])
    assert [(entry.changeset_id, entry.href) for entry in found] == [(3, "/changesets/3"), (2, "/changes/5")]
    assert found[0].what == "2 tools changed, 1 breaking"
    assert [tool.name for tool in found[0].tools] == ["get_order", "list"]


def test_the_same_tool_in_two_eras_is_one_tool(sample: Any) -> None:
    (entry,) = entries.gather([sample.change(), sample.change(id=8, era="legacy", tool_id=9)])
    assert entry.tool is not None
    assert entry.what == "`status` may now be null, +1 more"


def test_entries_stand_under_their_day_newest_first(sample: Any) -> None:
    day = timedelta(days=1)
    old = sample.change(id=9, changeset_id=9, window=(sample.start - 3 * day, sample.end - 3 * day))
    days = entries.days(entries.gather([old, sample.change()]), sample.now.date())
    assert [(one.heading, len(one.entries)) for one in days] == [("Today", 1), ("Fri 27 Nov", 1)]


def test_a_deploy_is_grouped_by_cause_before_it_is_listed(sample: Any) -> None:
    changes = [sample.change(id=i, tool=f"t{i}", tool_id=i) for i in range(1, 14)]
    gone = sample.change(id=20, tool="gone", kind="removed", parts=(), part="presence")
    told = deploy.tell([*changes, gone])
    assert told.title == "13 tools changed, 1 tool removed, 14 breaking"
    assert {(group.rule, len(group.tools), group.example) for group in told.groups} == {
        ("output-null-added", 13, True),
        ("tool-removed", 1, False),
    }
    assert [len(group.rows) for group in told.groups] == [len(group.tools) for group in told.groups]
    assert all(line.what == "" for group in told.groups for line in group.rows)
    assert told.tools == 14


def test_a_deploy_of_one_tool_is_told_by_its_headline(sample: Any) -> None:
    told = deploy.tell([sample.change()])
    assert told.title == "`status` may now be null"
    (alone,) = told.groups
    assert (alone.cause, alone.rows[0].what) == ("", "`status` may now be null")


def test_a_deploy_of_many_hundred_changes_is_capped(sample: Any) -> None:
    told = deploy.tell([sample.change(id=i, tool=f"t{i}", tool_id=i) for i in range(1, 600)])
    (group,) = told.groups
    assert len(group.rows) == deploy.MAX_ROWS
    assert group.left_out == 599 - deploy.MAX_ROWS


CHANNEL = ChannelView(1, "#payments", "slack-webhook", "enabled", None, 0, None)


def test_the_path_from_the_policy_to_the_channel(sample: Any) -> None:
    attempt = AttemptView(NOW, "delivered", 200, "ok", None, 61.0)
    told = telling.tell(sample.decision(), sample.alert(), [sample.delivery(attempts=(attempt,))], [CHANNEL], NOW)
    assert told.sentence == "1 channel: #payments."
    assert [(step.hit, step.strong) for step in told.steps] == [(True, "It alerts:"), (True, "#payments"), (False, "")]
    assert told.steps[1].text == "14:09:21 UTC, first try, 61 ms"
    assert told.steps[2].text == "Asked before, and not so: client SDKs refuse the new definition."


def test_nobody_was_told_and_why(sample: Any) -> None:
    assert telling.tell(None, None, [], [], NOW).sentence.startswith("Nobody yet")
    quiet = telling.tell(sample.decision("history", "wording-only"), None, [], [CHANNEL], NOW)
    assert quiet.sentence == "Nobody. It is kept in history."
    unset = telling.tell(sample.decision(), sample.alert(), [], [], NOW)
    assert unset.sentence == "Nobody: no channel is set up."
    assert unset.steps[1].strong == "No channel is set up."
    waiting = telling.tell(sample.decision(), sample.alert(), [sample.delivery("queued")], [CHANNEL], NOW)
    assert waiting.sentence.startswith("Nobody yet: the message is waiting")
    assert waiting.steps[1].text == "next try in 30 s"


def test_a_refused_delivery_shows_what_the_channel_said(sample: Any) -> None:
    attempt = AttemptView(NOW, "channel-permanent", 404, None, "no_service", 20.0)
    told = telling.tell(
        sample.decision(), sample.alert(), [sample.delivery("dead", attempts=(attempt,))], [CHANNEL], NOW
    )
    assert told.steps[1].state is not None
    assert told.steps[1].state.word == "not delivered"
    assert told.steps[1].aside == "Slack, opened: no_service"


def test_a_quiet_change_beside_a_loud_one_says_so(sample: Any) -> None:
    told = telling.tell(sample.decision("history"), sample.alert(), [sample.delivery()], [CHANNEL], NOW)
    assert told.sentence.endswith("the alert is about another one of the same deploy.")


def test_a_folded_filter_shows_only_what_is_chosen() -> None:
    assert chips.folded("era", ["modern", "legacy"], "") == chips.Filter("era", (), ("modern", "legacy"))
    assert chips.folded("era", ["modern", "legacy"], "legacy") == chips.Filter("era", ("legacy",), ("modern",))


def test_the_past_tells_kinds_of_clients_together_where_they_saw_the_same() -> None:
    window = (NOW - timedelta(minutes=5), NOW)
    tools = [
        ToolAsOf(1, "a", "modern", 11, 1),
        ToolAsOf(2, "a", "legacy", 21, 1),
        ToolAsOf(3, "b", "modern", 31, 1, window, 2),
        ToolAsOf(4, "b", "legacy", 41, 1),
    ]
    assert [(one.tool.tool_id, one.eras) for one in past.together(tools)] == [
        (1, ("modern", "legacy")),
        (3, ("modern",)),
        (4, ("legacy",)),
    ]
