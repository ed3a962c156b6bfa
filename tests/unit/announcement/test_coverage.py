from __future__ import annotations

import pytest

from driftwatch.announcement.coverage import covered_until, explaining
from driftwatch.announcement.evidence import DEFAULT_CONSTANTS, Stream


@pytest.mark.parametrize(
    ("streams", "expected"),
    [
        ([], None),
        ([Stream(0, None)], None),
        ([Stream(0, 50)], 50),
        ([Stream(0, 10)], 10),
        ([Stream(10, 20)], 20),
        ([Stream(11, 20)], None),
        ([Stream(0, 9)], None),
        ([Stream(5, 30), Stream(0, 40)], 40),
        ([Stream(30, 60), Stream(0, 30)], 60),
        ([Stream(31, 60), Stream(0, 30)], 30),
        ([Stream(0, 9), Stream(8, 30)], 30),
    ],
)
def test_covered_until(streams: list[Stream], expected: float | None) -> None:
    assert covered_until(streams, 10) == expected


@pytest.mark.parametrize(
    ("notifications", "expected"),
    [
        ((), ()),
        ((39.9, 220.1), ()),
        ((40,), (40,)),
        ((130, 140), (130, 140)),
        ((90, 130, 170), (130,)),
        ((50, 90), (90,)),
        ((165, 90), (165,)),
    ],
)
def test_a_change_spends_what_it_needs(notifications: tuple[float, ...], expected: tuple[float, ...]) -> None:
    assert explaining((100, 160), notifications, DEFAULT_CONSTANTS) == expected
