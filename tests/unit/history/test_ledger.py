"""The ledger, poll by poll. Definitions are one-letter digests; times are seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.history.ledger import (
    RESTARTS,
    SAMPLES,
    WHOLE_LIST,
    Constants,
    Doubt,
    Poll,
    Step,
    Transition,
    begin,
    compare,
)

START = datetime(2026, 1, 1, tzinfo=UTC)
CONSTANTS = Constants()


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def seconds(moment: datetime) -> float:
    return (moment - START).total_seconds()


def digests(tools: Mapping[str, str]) -> dict[str, bytes]:
    return {name: body.encode() for name, body in tools.items()}


@dataclass
class Book:
    """A profile's history as the ledger keeps it; polls take 0.2 s."""

    held: dict[str, bytes | None] | None = None
    doubts: Mapping[str, Doubt] = field(default_factory=dict)
    sent: datetime | None = None
    meanings: dict[bytes, bytes] = field(default_factory=dict)
    log: list[Transition] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    mixed: list[str] = field(default_factory=list)

    def poll(self, when: float, tools: Mapping[str, str], *, fresh: bool = True) -> Step:
        poll = Poll(at(when), at(when + 0.2), self.sent, fresh)
        seen = digests(tools)
        if self.held is None:
            step = begin(seen, self.doubts, poll, CONSTANTS)
            if step.baseline:
                self.held = dict(seen)
        else:
            step = compare(self.held, seen, self.doubts, poll, CONSTANTS, self.meanings)
            for change in step.transitions:
                assert self.held.get(change.tool) == change.old
                self.held[change.tool] = change.new
        self.doubts, self.sent = step.doubts, poll.sent_at
        self.log += step.transitions
        self.passed += step.passed
        self.mixed += step.mixed
        return step

    def run(self, *polls: tuple[float, Mapping[str, str]]) -> Step:
        steps = [self.poll(when, tools) for when, tools in polls]
        return steps[-1]

    @property
    def story(self) -> list[tuple[str, str]]:
        return [(change.kind, change.tool) for change in self.log]


def begun(tools: Mapping[str, str]) -> Book:
    book = Book()
    assert book.poll(0, tools).baseline
    return book


def test_the_first_list_is_the_baseline_and_no_change() -> None:
    book = Book()
    step = book.poll(0, {"a": "1", "b": "1"})
    assert step.baseline
    assert step.settled
    assert book.story == []


def test_an_empty_first_list_needs_a_second_look() -> None:
    book = Book()
    step = book.poll(0, {})
    assert (step.baseline, step.settled, step.look_again) == (False, False, CONSTANTS.confirm)
    assert list(step.doubts) == [WHOLE_LIST]
    assert not book.poll(2, {}, fresh=False).baseline
    assert book.poll(4, {}).baseline


def test_a_first_list_that_fills_is_the_baseline() -> None:
    book = Book()
    book.poll(0, {})
    step = book.poll(0.5, {"a": "1"})
    assert step.baseline
    assert step.settled
    assert book.story == []


def test_a_change_needs_a_second_sighting_on_a_new_connection() -> None:
    book = begun({"a": "1"})
    step = book.poll(10, {"a": "2"})
    assert (step.transitions, step.settled, step.look_again) == ((), False, CONSTANTS.confirm)
    assert book.poll(12, {"a": "2"}, fresh=False).transitions == ()
    assert book.poll(10.9, {"a": "2"}).transitions == ()
    step = book.poll(14, {"a": "2"})
    assert step.settled
    assert step.look_again is None
    (change,) = step.transitions
    assert (change.kind, change.old, change.new) == ("changed", b"1", b"2")
    assert tuple(map(seconds, change.window)) == (0, 10.2)


def test_the_window_starts_at_the_last_poll_that_saw_the_old_definition() -> None:
    book = begun({"a": "1"})
    book.run((10, {"a": "1"}), (20, {"a": "1"}), (30, {"a": "2"}), (32, {"a": "2"}))
    assert [tuple(map(seconds, change.window)) for change in book.log] == [(20, 30.2)]


def test_added_and_restored() -> None:
    book = begun({"a": "1"})
    book.run((10, {"a": "1", "b": "1"}), (12, {"a": "1", "b": "1"}))
    book.run((20, {"a": "1"}), (22, {"a": "1"}), (90, {"a": "1"}))
    book.run((100, {"a": "1", "b": "1"}), (102, {"a": "1", "b": "1"}))
    assert book.story == [("added", "b"), ("removed", "b"), ("restored", "b")]
    assert [tuple(map(seconds, change.window)) for change in book.log] == [(0, 10.2), (12, 20.2), (90, 100.2)]


def test_a_pure_removal_needs_three_sightings_over_a_minute() -> None:
    book = begun({"a": "1", "b": "1"})
    assert book.poll(10, {"a": "1"}).look_again == CONSTANTS.confirm
    step = book.poll(12, {"a": "1"})
    assert (step.transitions, step.look_again) == ((), timedelta(seconds=58))
    assert book.poll(40, {"a": "1"}).transitions == ()
    assert book.poll(69.9, {"a": "1"}).transitions == ()
    assert book.poll(70, {"a": "1"}).transitions[0].kind == "removed"
    assert tuple(map(seconds, book.log[0].window)) == (0, 10.2)


def test_a_minute_alone_does_not_make_a_removal() -> None:
    book = begun({"a": "1", "b": "1"})
    book.run((10, {"a": "1"}), (75, {"a": "1"}))
    assert book.story == []
    book.poll(77, {"a": "1"})
    assert book.story == [("removed", "b")]


def test_an_empty_list_in_between_is_nothing() -> None:
    book = begun({"a": "1"})
    book.poll(10, {})
    for second in range(12, 30, 2):
        book.poll(second, {"a": "1"})
    assert book.story == []
    assert book.passed == ["a"]
    assert book.doubts == {}


def test_an_empty_list_for_a_minute_is_removal_of_all() -> None:
    book = begun({"a": "1", "b": "1"})
    book.run((10, {}), (12, {}), (71, {}))
    assert book.story == [("removed", "a"), ("removed", "b")]


def test_a_removal_beside_an_addition_is_believed_with_it() -> None:
    book = begun({"a": "1"})
    book.run((10, {"b": "1"}), (12, {"b": "1"}))
    assert book.story == [("removed", "a"), ("added", "b")]
    assert len({change.window for change in book.log}) == 1


def test_a_removal_is_not_believed_with_an_earlier_change() -> None:
    book = begun({"a": "1", "b": "1"})
    book.run((10, {"a": "2", "b": "1"}), (12, {"a": "2"}), (14, {"a": "2"}))
    assert book.story == [("changed", "a")]


def test_a_clock_in_one_definition_holds_up_no_other() -> None:
    book = begun({"clock": "0", "a": "1"})
    steps = [book.poll(10 + 2 * n, {"clock": f"t{n}", "a": "2", "b": "1"}) for n in range(8)]
    assert book.story == [("changed", "a"), ("added", "b")]
    assert [step.look_again is not None for step in steps] == [True] * RESTARTS + [False] * (8 - RESTARTS)
    assert book.doubts["clock"].restarts == 7
    assert seconds(book.doubts["clock"].prior_sent_at) == 0


def test_a_third_definition_starts_anew_for_its_tool() -> None:
    book = begun({"a": "1"})
    book.run((10, {"a": "2"}), (12, {"a": "3"}))
    assert book.story == []
    book.poll(14, {"a": "3"})
    assert [(change.old, change.new) for change in book.log] == [(b"1", b"3")]
    assert tuple(map(seconds, book.log[0].window)) == (0, 12.2)


def test_one_odd_answer_passes_after_five_more_connections() -> None:
    book = begun({"a": "1"})
    book.poll(10, {"a": "2"})
    steps = [book.poll(12 + 2 * n, {"a": "1"}) for n in range(SAMPLES)]
    assert [step.settled for step in steps] == [False] * (SAMPLES - 1) + [True]
    assert all(step.look_again == CONSTANTS.confirm for step in steps[:-1])
    assert (book.story, book.passed) == ([], ["a"])


def test_two_alternating_definitions_are_believed_when_one_holds_for_fifteen_minutes() -> None:
    book = begun({"a": "1"})
    book.run((10, {"a": "2"}), (12, {"a": "1"}), (14, {"a": "2"}), (16, {"a": "2"}), (100, {"a": "2"}))
    assert book.story == []
    assert book.poll(800, {"a": "2"}).transitions == ()
    (change,) = book.poll(915, {"a": "2"}).transitions
    assert change.returns == 1
    assert tuple(map(seconds, change.window)) == (12, 14.2)


def test_alternating_is_no_change_and_no_storm_and_noted_once() -> None:
    book = begun({"a": "1"})
    steps = [book.poll(10 + 60 * n, {"a": "12"[n % 2 == 0]}) for n in range(200)]
    assert (book.story, book.mixed) == ([], ["a"])
    assert sum(step.look_again is not None for step in steps) <= 2 * RESTARTS


def test_a_return_alone_is_not_yet_alternating() -> None:
    book = begun({"a": "1"})
    book.run((10, {"a": "2"}), (12, {"a": "1"}), (14, {"a": "1"}))
    assert book.mixed == []
    book.poll(16, {"a": "2"})
    assert book.mixed == ["a"]


DAY = 86_400


def alternate(book: Book, first: int, last: int, *, every: int = 600) -> None:
    for n, when in enumerate(range(first, last, every)):
        book.poll(when, {"a": "21"[n % 2]})


def test_replicas_that_differ_for_a_day_are_judged_once_by_the_newest() -> None:
    book = begun({"a": "1"})
    alternate(book, 600, DAY + 600)
    assert book.story == []
    alternate(book, DAY + 600, 4 * DAY)
    (change,) = book.log
    assert (change.old, change.new, change.replicas_differ) == (b"1", b"2", True)
    assert DAY + 600 <= seconds(change.window[1]) <= DAY + 1200
    assert book.mixed == ["a"]


def test_the_day_is_counted_from_the_first_sighting() -> None:
    book = begun({"a": "1"})
    alternate(book, 600, DAY + 500, every=500)
    assert book.story == []
    book.run((DAY + 599, {"a": "1"}), (DAY + 600, {"a": "2"}))
    assert [change.replicas_differ for change in book.log] == [True]


def test_what_holds_after_the_replicas_differed_is_believed() -> None:
    for winner, story in (("1", ["changed", "changed"]), ("2", ["changed"])):
        book = begun({"a": "1"})
        alternate(book, 600, DAY + 3600)
        assert [kind for kind, _ in book.story] == ["changed"]
        steps = [book.poll(DAY + 4000 + 300 * n, {"a": winner}) for n in range(6)]
        assert [kind for kind, _ in book.story] == story
        assert steps[-1].settled
        assert not book.log[-1].replicas_differ or winner == "2"


def test_a_tool_that_only_some_replicas_have_is_removed_after_a_day_at_the_earliest() -> None:
    book = begun({"a": "1", "b": "1"})
    for n, when in enumerate(range(600, 2 * DAY, 600)):
        book.poll(when, {"a": "1"} if n % 2 == 0 else {"a": "1", "b": "1"})
    assert [(change.kind, change.tool, change.replicas_differ) for change in book.log] == [("removed", "b", True)]
    assert seconds(book.log[0].window[1]) >= DAY


def test_alternating_that_ends_with_the_old_one_passes() -> None:
    book = begun({"a": "1"})
    for n in range(6):
        book.poll(10 + 2 * n, {"a": "12"[n % 2 == 0]})
    book.run((100, {"a": "1"}), (800, {"a": "1"}))
    assert not book.passed
    assert book.poll(925, {"a": "1"}).settled
    assert book.passed == ["a"]


def test_a_tool_seen_once_and_never_again_passes() -> None:
    book = begun({"a": "1"})
    book.poll(10, {"a": "1", "b": "1"})
    for second in range(12, 30, 2):
        book.poll(second, {"a": "1"})
    assert (book.story, book.passed, book.doubts) == ([], ["b"], {})


def test_a_change_while_another_is_in_doubt_keeps_its_own_window() -> None:
    book = begun({"a": "1", "b": "1"})
    book.run((10, {"a": "2", "b": "1"}), (12, {"a": "2", "b": "2"}), (14, {"a": "2", "b": "2"}))
    assert [(c.tool, *map(seconds, c.window)) for c in book.log] == [("a", 0, 10.2), ("b", 10, 12.2)]


# Reported sequences, in small: what each poll saw (None: the poll failed and proves nothing) and what is believed.
SEQUENCES: list[tuple[str, Sequence[Mapping[str, str] | None], list[tuple[str, str]]]] = [
    ("a tool appears", [{"a": "1"}, {"a": "1", "b": "1"}], [("added", "b")]),
    ("one replaced by another", [{"a": "1"}, {"b": "1"}], [("removed", "a"), ("added", "b")]),
    ("offline becomes online", [{"offline": "1"}, {"online": "1"}], [("removed", "offline"), ("added", "online")]),
    ("an input is widened", [{"s": "list"}, {"s": "list or text"}], [("changed", "s")]),
    ("only the dialect marker is left", [{"r": "schema"}, {"r": "marker"}], [("changed", "r")]),
    ("a name edited into another", [{"a": "1", "b": "1"}, {"a": "1"}], [("removed", "b")]),
    ("another order", [{"a": "1", "b": "1", "c": "1"}, {"c": "1", "a": "1", "b": "1"}], []),
    ("unreachable in between", [{"a": "1"}, None, {"a": "1"}], []),
    ("serves no tools for a moment", [{"a": "1"}, None, {"a": "1"}], []),
    (
        "there and back, twice",
        [{"a": "1"}, {"a": "1", "b": "1"}, {"a": "1"}, {"a": "1", "b": "1"}],
        [("added", "b"), ("removed", "b"), ("restored", "b")],
    ),
    ("a default that is the clock at start", [{"p": "t1"}, {"p": "t2"}], [("changed", "p")]),
]


@pytest.mark.parametrize(("states", "story"), [row[1:] for row in SEQUENCES], ids=[row[0] for row in SEQUENCES])
def test_reported_sequences(states: Sequence[Mapping[str, str] | None], story: list[tuple[str, str]]) -> None:
    book = Book()
    for index, state in enumerate(states):
        for later in (0, 2, 70):
            if state is not None:
                book.poll(index * 100 + later, state)
    assert sorted(book.story) == sorted(story)
    assert book.doubts == {}


worlds = st.dictionaries(st.sampled_from("abc"), st.sampled_from("12"), max_size=3)


@given(st.lists(st.tuples(st.floats(0.5, 400), worlds, st.booleans()), max_size=25), worlds)
def test_any_sequence_is_consistent_and_ends_in_what_holds(
    polls: list[tuple[float, dict[str, str], bool]], last: dict[str, str]
) -> None:
    book = Book()
    now = 0.0
    for gap, tools, fresh in polls:
        now += gap
        book.poll(now, tools, fresh=fresh)
    for _ in range(8):
        now += 300
        step = book.poll(now, last)
    assert step.settled
    assert book.held is not None
    assert {tool: body for tool, body in book.held.items() if body is not None} == digests(last)
    for tool in "abc":
        mine = [change for change in book.log if change.tool == tool]
        for change in mine:
            assert change.old != change.new
            assert change.window[0] < change.window[1]
        for before, after in pairwise(mine):
            assert before.new == after.old
            assert before.window[0] < after.window[0]


@given(st.lists(worlds, min_size=1, max_size=12))
def test_polls_that_agree_change_nothing(states: list[dict[str, str]]) -> None:
    book = Book()
    for index, state in enumerate(states):
        book.poll(index, state)
    step: Any = None
    for index in range(4):
        step = book.poll(5000 + 1000 * index, states[-1])
    before = list(book.log)
    for index in range(5):
        step = book.poll(20_000 + index, states[-1], fresh=False)
    assert step == Step()
    assert book.log == before


def clocked(*definitions: str) -> dict[bytes, bytes]:
    """Definitions such as ``m7`` that mean their letter; the figure is words, such as a clock in a default."""
    return {one.encode(): one[:1].encode() for one in definitions}


def test_a_change_of_meaning_is_believed_where_the_words_never_hold_still() -> None:
    book = begun({"a": "m0"})
    book.meanings = clocked(*(f"{letter}{n}" for letter in "mn" for n in range(10)))
    for n in range(1, 7):
        book.poll(60 * n, {"a": f"m{n}"})
    assert book.story == []  # only words: no version for each tick of a clock
    assert book.doubts["a"].restless
    step = book.poll(420, {"a": "n7"}, fresh=False)
    assert step.look_again == CONSTANTS.confirm
    book.poll(422, {"a": "n8"})
    [change] = book.log
    assert (change.old, change.new) == (b"m0", b"n8")
    assert (seconds(change.window[0]), seconds(change.window[1])) == (360, 420.2)  # since the last poll that meant m
    book.poll(480, {"a": "n9"})
    assert book.story == [("changed", "a")]


def test_a_meaning_that_differs_at_every_look_is_never_believed_and_no_storm() -> None:
    book = begun({"a": "m0"})
    book.meanings = clocked("m0", *(f"{letter}0" for letter in "abcdefgh"))
    waits = [book.poll(10 * n, {"a": f"{letter}0"}).look_again for n, letter in enumerate("abcdefgh", start=1)]
    assert book.story == []
    assert waits[RESTARTS:] == [None] * (len(waits) - RESTARTS)


def test_words_and_meanings_in_turn_cost_one_quick_look_at_most() -> None:
    book = begun({"a": "m0"})
    book.meanings = clocked(*(f"{letter}{n}" for letter in "mn" for n in range(40)))
    quick = 0
    for n in range(1, 40):
        quick += book.poll(10 * n, {"a": f"{'mn'[n % 2]}{n}"}).look_again is not None
    assert book.story == []
    assert quick <= 20 + RESTARTS
