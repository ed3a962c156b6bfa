import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.scheduler.backoff import failure_wait, regular_wait


@pytest.mark.parametrize(
    ("failures", "interval", "expected"),
    [
        (1, 300, 15),
        (2, 300, 30),
        (3, 300, 60),
        (9, 300, 3600),
        (500, 300, 3600),
        (1, 2, 2),
        (4, 2, 16),
        (40, 7200, 7200),
    ],
)
def test_waits_double_from_the_first_failure_to_one_hour(failures: int, interval: float, expected: float) -> None:
    assert failure_wait(failures, interval=interval, retry_after=None, random=lambda: 0.0) == expected


def test_jitter_takes_away_up_to_a_quarter() -> None:
    assert failure_wait(1, interval=300, retry_after=None, random=lambda: 1.0) == pytest.approx(11.25)


def test_retry_after_is_honoured_but_not_for_ever() -> None:
    assert failure_wait(1, interval=300, retry_after=120.5, random=lambda: 0.5) == 120.5
    assert failure_wait(1, interval=300, retry_after=10**9, random=lambda: 0.5) == 86_400
    assert failure_wait(3, interval=300, retry_after=1, random=lambda: 0.0) == 60


@given(st.integers(1, 10**6), st.floats(1, 10**6), st.floats(0, 1, exclude_max=True))
def test_a_wait_is_positive_and_bounded(failures: int, interval: float, random: float) -> None:
    wait = failure_wait(failures, interval=interval, retry_after=None, random=lambda: random)
    assert 0 < wait <= max(3600, interval)


@given(st.floats(0, 1, exclude_max=True))
def test_regular_polls_spread_five_per_cent(random: float) -> None:
    assert 95 <= regular_wait(100, random=lambda: random) <= 105
