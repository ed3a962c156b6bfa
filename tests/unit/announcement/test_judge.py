"""Each row of the rules, its boundaries, and what must hold for any evidence. Times are seconds."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.announcement.evidence import Constants, Evidence, Judgement, Stream
from driftwatch.announcement.judge import judge

W = (1000.0, 1100.0)  # heard: [940, 1160]; restarts count in [1000, 2000]; pending ends at 1190
LATE = 5000.0


def case(
    now: float = LATE,
    declared: bool = True,
    listening: str = "ok",
    streams: tuple[Stream, ...] = (),
    notified: tuple[float, ...] = (),
    restarts: tuple[float, ...] = (),
) -> Evidence:
    return Evidence(W, now, declared, listening, streams, notified, restarts)


HEARD = (Stream(900, 1300),)
ROWS = [
    # row 1
    ("notified in the window", case(streams=HEARD, notified=(1050,)), ("announced", None, None, 1)),
    ("notified at the very start of the lead", case(streams=HEARD, notified=(940,)), ("announced", None, None, 1)),
    ("notified before the lead", case(streams=HEARD, notified=(939.9,)), ("silent", "not-delivered", None, 6)),
    ("notified at the very end of the lag", case(streams=HEARD, notified=(1160,)), ("announced", None, None, 1)),
    ("notified after the lag", case(streams=HEARD, notified=(1160.1,)), ("silent", "not-delivered", None, 6)),
    ("notified although undeclared", case(declared=False, notified=(1050,)), ("announced", None, "undeclared", 1)),
    ("notified on a reply, nothing held", case(listening="off", notified=(1050,)), ("announced", None, None, 1)),
    ("notified and restarted", case(notified=(1050,), restarts=(1050,)), ("announced", None, None, 1)),
    # row 2
    ("held, lag running", case(now=1120, streams=(Stream(900, 1119),)), ("pending", None, None, 2)),
    ("held, grace running", case(now=1189.9, streams=(Stream(900, 1159),)), ("pending", None, None, 2)),
    ("held, grace over", case(now=1190, streams=(Stream(900, 1159),)), ("unknown", None, None, 7)),
    (
        "held and complete before the grace",
        case(now=1161, streams=(Stream(900, 1160),)),
        ("silent", "not-delivered", None, 6),
    ),
    ("held too late, lag running", case(now=1120, streams=(Stream(1050, 1119),)), ("pending", None, None, 2)),
    (
        "undeclared but held, lag running",
        case(now=1120, declared=False, streams=(Stream(900, 1119),)),
        ("pending", None, None, 2),
    ),
    ("not held any more, lag running", case(now=1120, streams=(Stream(900, 1119, "us"),)), ("unknown", None, None, 7)),
    # row 3
    ("not declared", case(declared=False, listening="off"), ("silent", "not-declared", None, 3)),
    (
        "not declared, restarted at the start",
        case(declared=False, listening="off", restarts=(1000,)),
        ("silent", "restart", None, 3),
    ),
    (
        "not declared, restarted before",
        case(declared=False, listening="off", restarts=(999.9,)),
        ("silent", "not-declared", None, 3),
    ),
    (
        "not declared, restarted at the end of the roll",
        case(declared=False, listening="off", restarts=(2000,)),
        ("silent", "restart", None, 3),
    ),
    (
        "not declared, restarted after the roll",
        case(declared=False, listening="off", restarts=(2000.1,)),
        ("silent", "not-declared", None, 3),
    ),
    # row 4
    ("cannot deliver", case(listening="cannot-deliver"), ("silent", "cannot-deliver", None, 4)),
    ("cannot deliver, restarted", case(listening="cannot-deliver", restarts=(1500,)), ("silent", "restart", None, 4)),
    # row 5
    (
        "server broke it and restarted",
        case(streams=(Stream(900, 1050, "server"), Stream(1060, 1300)), restarts=(1055,)),
        ("silent", "restart", None, 5),
    ),
    (
        "server broke it at the window's start",
        case(streams=(Stream(900, 1000, "server"),), restarts=(1001,)),
        ("silent", "restart", None, 5),
    ),
    (
        "server broke it before the window",
        case(streams=(Stream(900, 999, "server"),), restarts=(1001,)),
        ("unknown", None, "restarted", 7),
    ),
    (
        "we broke it, restarted",
        case(streams=(Stream(900, 1050, "us"),), restarts=(1055,)),
        ("unknown", None, "restarted", 7),
    ),
    (
        "cut by a proxy, restarted within the reach of one cause",
        case(streams=(Stream(900, 1050, "server"), Stream(1060, 1300)), restarts=(1080,)),
        ("silent", "restart", None, 5),
    ),
    (
        "cut by a proxy, restarted for another reason later",
        case(streams=(Stream(900, 1050, "server"), Stream(1060, 1300)), restarts=(1080.1,)),
        ("unknown", None, "restarted", 7),
    ),
    ("broken without restart", case(streams=(Stream(900, 1050, "server"),)), ("unknown", None, None, 7)),
    # row 6
    ("listened throughout", case(streams=HEARD), ("silent", "not-delivered", None, 6)),
    ("listened exactly throughout", case(streams=(Stream(940, 1160, "us"),)), ("silent", "not-delivered", None, 6)),
    ("acknowledged a moment late", case(streams=(Stream(940.1, 1300),)), ("unknown", None, None, 7)),
    ("last byte a moment early", case(streams=(Stream(900, 1159.9, "us"),)), ("unknown", None, None, 7)),
    (
        "recycled without a gap",
        case(streams=(Stream(1040, 1300), Stream(900, 1050, "us"))),
        ("silent", "not-delivered", None, 6),
    ),
    (
        "recycled end to end",
        case(streams=(Stream(900, 1050, "us"), Stream(1050, 1300))),
        ("silent", "not-delivered", None, 6),
    ),
    ("a gap of ours", case(streams=(Stream(900, 1050, "us"), Stream(1051, 1300))), ("unknown", None, None, 7)),
    ("listened throughout, restarted later", case(streams=HEARD, restarts=(1900,)), ("silent", "restart", None, 6)),
    # row 7
    ("poll only", case(listening="off"), ("unknown", None, None, 7)),
    ("poll only, restarted", case(listening="off", restarts=(1050,)), ("unknown", None, "restarted", 7)),
    ("subscription limit", case(listening="limit"), ("unknown", None, None, 7)),
    (
        "listening is off although streams are recorded",
        case(listening="off", streams=HEARD),
        ("unknown", None, None, 7),
    ),
    ("half open", case(streams=(Stream(900, 930),)), ("unknown", None, None, 7)),
    ("nothing was ever received", case(streams=(Stream(900, None),)), ("unknown", None, None, 7)),
    ("nothing held", case(), ("unknown", None, None, 7)),
]


@pytest.mark.parametrize(("evidence", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_rows(evidence: Evidence, expected: tuple[str, str | None, str | None, int]) -> None:
    assert judge(evidence) == Judgement(*expected)


def test_constants_move_the_boundaries() -> None:
    short = Constants(lead=1, lag=5, roll=10, pending_grace=2)
    assert judge(case(listening="off", notified=(1105,)), short).announcement == "announced"
    assert judge(case(listening="off", notified=(1105.1,)), short).announcement == "unknown"
    assert judge(case(declared=False, listening="off", restarts=(1111,)), short).reason == "not-declared"
    assert judge(case(now=1106, streams=(Stream(900, 1104),)), short).announcement == "pending"
    assert judge(case(now=1107, streams=(Stream(900, 1104),)), short).announcement == "unknown"


moments = st.floats(800, 2300)
streams = st.lists(
    st.builds(
        lambda acked, length, ended: Stream(acked, None if length is None else acked + length, ended),
        moments,
        st.none() | st.floats(0, 900),
        st.sampled_from(["open", "us", "server"]),
    ),
    max_size=3,
)
evidences = st.builds(
    Evidence,
    window=st.just(W),
    now=st.floats(1100, 6000),
    declared=st.booleans(),
    listening=st.sampled_from(["ok", "cannot-deliver", "limit", "off"]),
    streams=streams.map(tuple),
    notifications=st.lists(moments, max_size=2).map(tuple),
    restarts=st.lists(moments, max_size=2).map(tuple),
)


@given(evidences)
def test_silence_of_a_declared_server_needs_proof(evidence: Evidence) -> None:
    found = judge(evidence)
    if found.announcement == "silent" and evidence.declared and evidence.listening != "cannot-deliver":
        assert evidence.listening == "ok"
        assert any(s.acked <= 940 and (s.verified_until or 0) >= 940 for s in evidence.streams)
    assert (found.reason is not None) == (found.announcement == "silent")


@given(evidences)
def test_once_late_nothing_is_pending_and_more_restarts_never_announce(evidence: Evidence) -> None:
    assert judge(replace(evidence, now=1190.0)).announcement != "pending"
    more = judge(replace(evidence, restarts=(*evidence.restarts, 1500.0)))
    assert (more.announcement == "announced") == (judge(evidence).announcement == "announced")
    assert more.announcement == judge(evidence).announcement or more.reason == "restart"
