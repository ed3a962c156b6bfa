from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from driftwatch.scheduler.batches import Due, group

START = datetime(2026, 11, 30, tzinfo=UTC)


def due(profile_id: int, server_id: int, host: str, second: int = 0) -> Due:
    return Due(profile_id, server_id, host, START + timedelta(seconds=second))


def test_small_hosts_share_a_batch_oldest_first() -> None:
    assert group([due(1, 1, "b", 5), due(2, 2, "a", 1), due(3, 1, "b", 9)]) == [[2, 1, 3]]


def test_a_host_is_not_torn_apart_while_it_fits() -> None:
    small = [due(i, i, "small", 0) for i in range(3)]
    large = [due(10 + i, 10 + i, "large", 1) for i in range(4)]
    assert group([*large, *small], size=5) == [[0, 1, 2], [10, 11, 12, 13]]


def test_a_host_larger_than_a_batch_is_cut_between_servers() -> None:
    host = [due(i, i // 2, "host", i // 2) for i in range(6)]
    assert group(host, size=3) == [[0, 1], [2, 3], [4, 5]]


def test_nothing_due_makes_no_batch() -> None:
    assert group([]) == []


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 5), st.integers(0, 9)), max_size=80),
    st.integers(1, 7),
)
def test_every_profile_is_in_exactly_one_batch_and_none_is_too_large(
    rows: list[tuple[int, int, int]], size: int
) -> None:
    given_due = [due(i, server, f"host{host}", second) for i, (server, host, second) in enumerate(rows)]
    batches = group(given_due, size=size)
    assert sorted(p for batch in batches for p in batch) == list(range(len(rows)))
    assert all(0 < len(batch) <= size for batch in batches)
