from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.history.changesets import Group, Window, join

START = datetime(2026, 1, 1, tzinfo=UTC)


def window(start: float, end: float) -> Window:
    return START + timedelta(seconds=start), START + timedelta(seconds=end)


@pytest.mark.parametrize(
    ("windows", "chosen"),
    [
        ([(0, 10), (0, 10), (0, 10)], [0, 0, 0]),
        ([(0, 10), (5, 15)], [0, 0]),
        ([(0, 10), (10, 20)], [0, 1]),
        ([(10, 20), (0, 10)], [1, 0]),
        ([(0, 10), (20, 30), (5, 25)], [0, 0, 0]),
        ([(0, 100), (40, 50)], [0, 0]),
        ([], []),
    ],
)
def test_overlapping_windows_belong_together(windows: list[tuple[float, float]], chosen: list[int]) -> None:
    groups, found = join([], [window(*pair) for pair in windows])
    assert found == chosen
    assert len(groups) == len(set(chosen))


def test_a_stored_changeset_grows() -> None:
    groups, chosen = join([Group(7, window(0, 10))], [window(5, 20), window(30, 40)])
    assert chosen == [0, 1]
    assert groups == [Group(7, window(0, 20)), Group(None, window(30, 40))]


def test_a_window_over_two_stored_changesets_joins_the_newest_and_never_merges() -> None:
    stored = [Group(1, window(0, 10)), Group(2, window(12, 20))]
    groups, chosen = join(stored, [window(5, 15)])
    assert chosen == [1]
    assert groups == [stored[0], Group(2, window(5, 20))]


spans = st.tuples(st.integers(0, 50), st.integers(1, 20)).map(lambda pair: window(pair[0], pair[0] + pair[1]))


@given(st.lists(spans, max_size=8), st.lists(spans, max_size=3))
def test_every_window_lies_in_its_group(windows: list[Window], stored: list[Window]) -> None:
    before = [Group(index, span) for index, span in enumerate(stored)]
    groups, chosen = join(before, windows)
    assert [group.id for group in groups[: len(before)]] == [group.id for group in before]
    assert len(chosen) == len(windows)
    for span, place in zip(windows, chosen, strict=True):
        assert groups[place].span[0] <= span[0]
        assert span[1] <= groups[place].span[1]
