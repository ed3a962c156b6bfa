import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.wire.sse import Event, EventParser

CASES = {
    b"data: a\n\n": [Event(b"a")],
    b"data: a\r\n\r\n": [Event(b"a")],
    b"data: a\r\r": [Event(b"a")],
    b"data:a\n\n": [Event(b"a")],
    b"data:  a\n\n": [Event(b" a")],
    b"data\n\n": [Event(b"")],
    b"data: a\ndata: b\n\n": [Event(b"a\nb")],
    b"data: a\r\ndata: b\rdata: c\n\r\n": [Event(b"a\nb\nc")],
    b"event: endpoint\ndata: /m\n\n": [Event(b"/m", "endpoint")],
    b"event: x\n\ndata: a\n\n": [Event(b"a")],
    b": ping\n\n: ping\r\n\r\ndata: a\n\n": [Event(b"a")],
    b"id: 7\ndata: a\n\ndata: b\n\n": [Event(b"a", id="7"), Event(b"b", id="7")],
    b"id: a\x00b\ndata: a\n\n": [Event(b"a")],
    b"retry: 10\nunknown: x\ndata: a\n\n": [Event(b"a")],
    b"\xef\xbb\xbfdata: a\n\n": [Event(b"a")],
    b"data: a\n\n\xef\xbb\xbfdata: b\n\n": [Event(b"a")],
    b"data: cut off\n": [],
    b"data: cut off": [],
    b"": [],
    "data: {\"x\": \"\u2028 \u0085 \x0b \x1c é\"}\n\n".encode(): ["any"],
}  # fmt: skip
EVERYTHING = b"".join(raw for raw, events in CASES.items() if events and not raw.startswith(b"\xef"))


@pytest.mark.parametrize("raw", CASES)
def test_events_are_parsed_wherever_the_stream_is_split(raw):
    whole = EventParser().feed(raw)
    expected = CASES[raw]
    assert whole == expected or expected == ["any"]
    for cut in range(len(raw) + 1):
        parser = EventParser()
        assert parser.feed(raw[:cut]) + parser.feed(raw[cut:]) == whole, cut
    parser = EventParser()
    assert [event for byte in raw for event in parser.feed(bytes([byte]))] == whole


def test_only_cr_and_lf_end_lines():
    raw = "data: a\u2028b\u0085c\x0bd\x1ce\n\n".encode()
    assert EventParser().feed(raw) == [Event(raw[6:-2])]


def test_an_empty_chunk_between_cr_and_lf_changes_nothing():
    parser = EventParser()
    assert parser.feed(b"data: a\r") == []
    assert parser.feed(b"") == []
    assert parser.feed(b"\n") == []
    assert parser.feed(b"\r\n") == [Event(b"a")]


@given(st.lists(st.integers(0, len(EVERYTHING)), max_size=12))
def test_any_way_of_splitting_gives_the_same_events(cuts):
    edges = sorted({0, len(EVERYTHING), *cuts})
    parser = EventParser()
    parts = [event for start, end in itertools.pairwise(edges) for event in parser.feed(EVERYTHING[start:end])]
    assert parts == EventParser().feed(EVERYTHING)
    assert len(parts) > 12
