import hashlib
import json

import pytest

from driftwatch.wire.errors import (
    BadResultError,
    IncompleteWalkError,
    RepeatedCursorError,
    TooManyPagesError,
    TooManyToolsError,
)
from driftwatch.wire.pages import SERVER_INFO, Pages


def page(*tools, **more):
    return json.dumps({"tools": list(tools), **more}).encode()


def test_cursor_logic():
    assert Pages(9, 99).take(page()) is None
    assert Pages(9, 99).take(page(nextCursor=None)) is None
    assert Pages(9, 99).take(page(nextCursor="")) == ""
    assert Pages(9, 99).take(page(nextCursor="2")) == "2"
    assert Pages(9, 99).take(page(nextCursor="é\u2028\ud800")) == "é\u2028\ud800"


@pytest.mark.parametrize("cursor", [2, True, [], {}, 1.5])
def test_a_cursor_that_is_no_string_is_refused(cursor):
    with pytest.raises(BadResultError):
        Pages(9, 99).take(page(nextCursor=cursor))


@pytest.mark.parametrize("cursors", [["a", "a"], ["", ""], ["a", "b", "c", "a"]])
def test_a_cursor_that_comes_again_is_an_error(cursors):
    pages = Pages(9, 99)
    for cursor in cursors[:-1]:
        pages.take(page(nextCursor=cursor))
    with pytest.raises(RepeatedCursorError):
        pages.take(page(nextCursor=cursors[-1]))


def test_pages_are_capped():
    pages = Pages(3, 99)
    assert [pages.take(page(nextCursor=str(n))) for n in range(2)] == ["0", "1"]
    with pytest.raises(TooManyPagesError):
        pages.take(page(nextCursor="2"))
    fitting = Pages(3, 99)
    assert [fitting.take(page(nextCursor=c)) for c in ("0", "1", None)] == ["0", "1", None]


def test_tools_are_capped_over_all_pages():
    pages = Pages(9, 3)
    pages.take(page(1, 2, nextCursor="a"))
    with pytest.raises(TooManyToolsError):
        pages.take(page(3, 4))


def test_tools_are_verbatim_and_in_order_whatever_they_are():
    pages = Pages(9, 99)
    first = b'{"nextCursor":"2","tools": [ {"name":"a", "x":1.0}, null ,true]}'
    second = b'{"tools":["\\u00e9", [ ], 1e400, {"name":"a"}]}'
    pages.take(first)
    pages.take(second)
    assert pages.tools == [b'{"name":"a", "x":1.0}', b"null", b"true", b'"\\u00e9"', b"[ ]", b"1e400", b'{"name":"a"}']
    assert pages.sha256 == hashlib.sha256(first + second).digest()
    assert pages.count == 2


@pytest.mark.parametrize("result", [b"{}", b'{"tools":null}', b'{"tools":{}}', b'{"tools":3}', b"[]", b"null", b"7"])
def test_a_result_without_a_list_is_refused(result):
    with pytest.raises(BadResultError):
        Pages(9, 99).take(result)


def test_only_complete_results_count():
    assert Pages(9, 99).take(page(resultType="complete")) is None
    assert Pages(9, 99).take(page(resultType=None)) is None
    with pytest.raises(IncompleteWalkError):
        Pages(9, 99).take(page(resultType="input_required"))


@pytest.mark.parametrize(
    ("hints", "ttl", "scope"),
    [
        ([{}], None, None),
        ([{"ttlMs": 300000, "cacheScope": "public"}], 300000, "public"),
        ([{"ttlMs": -5, "cacheScope": "private"}], 0, "private"),
        ([{"ttlMs": "10"}], 0, None),
        ([{"ttlMs": 1e300}], 0, None),
        ([{"ttlMs": 10**400}], 0, None),
        ([{"ttlMs": 1500.9}], 1500, None),
        ([{"ttlMs": None, "cacheScope": None}], 0, "private"),
        ([{"cacheScope": "everyone"}], None, "private"),
        ([{"ttlMs": 5, "cacheScope": "public"}, {"ttlMs": 3, "cacheScope": "private"}], 3, "private"),
        ([{"ttlMs": 5, "cacheScope": "private"}, {"ttlMs": 9, "cacheScope": "public"}], 5, "private"),
        ([{"ttlMs": 5, "cacheScope": "public"}, {}], 5, "public"),
    ],
)
def test_cache_hints_are_the_most_cautious(hints, ttl, scope):
    pages = Pages(9, 99)
    for number, hint in enumerate(hints):
        pages.take(page(nextCursor=str(number), **hint))
    assert (pages.ttl_ms, pages.cache_scope) == (ttl, scope)


@pytest.mark.parametrize(
    ("meta", "info"),
    [
        ({SERVER_INFO: {"name": "s", "version": "1"}}, {"name": "s", "version": "1"}),
        ({SERVER_INFO: "s"}, None),
        ({}, None),
        (None, None),
        ([], None),
    ],
)
def test_server_info_comes_from_the_first_page(meta, info):
    pages = Pages(9, 99)
    pages.take(page(_meta=meta, nextCursor="x"))
    pages.take(page(_meta={SERVER_INFO: {"name": "another"}}))
    assert pages.server_info == info


MODERN = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


@pytest.mark.parametrize(
    ("fields", "flaws"),
    [
        (MODERN, set()),
        (MODERN | {"ttlMs": 5.0, "cacheScope": "public"}, set()),
        ({}, {"no resultType", "no ttlMs", "no cacheScope"}),
        (MODERN | {"ttlMs": -5}, {"a ttlMs that is no count of milliseconds"}),
        (MODERN | {"ttlMs": "5"}, {"a ttlMs that is no count of milliseconds"}),
        (MODERN | {"ttlMs": 0.5}, {"a ttlMs that is no count of milliseconds"}),
        (MODERN | {"cacheScope": "shared"}, {"a cacheScope that is neither public nor private"}),
    ],
)
def test_what_a_modern_page_must_say_beside_its_tools(fields, flaws):
    pages = Pages(9, 99)
    pages.take(page(nextCursor="2", **MODERN))
    pages.take(page(**fields))
    assert pages.flaws == flaws
