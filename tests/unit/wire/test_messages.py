import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.wire import messages
from driftwatch.wire.errors import BadJsonError, BadResultError, NotMcpError, TooDeepError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=30,
)


def depth(value):
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if children is None else 1 + max((depth(child) for child in children), default=0)


def nested(levels):
    return b'{"id":1,"result":' + b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"


def test_members_stay_the_bytes_that_were_sent():
    (message,) = messages.read_messages(b'{"jsonrpc":"2.0","id":1,"result": {"b":1.0e2, "a":[]} }')
    assert bytes(message.result) == b'{"b":1.0e2, "a":[]}'
    assert bytes(message.id) == b"1"
    assert message.error_object() == b""


def test_a_batch_is_several_messages():
    first, second = messages.read_messages(b' [{"method":"notifications/tools/list_changed"},{"id":1,"result":{}}]')
    assert first.is_list_changed()
    assert bytes(second.result) == b"{}"


def test_slashes_may_be_escaped():
    (message,) = messages.read_messages(rb'{"method":"notifications\/tools\/list_changed"}')
    assert message.is_list_changed()


@pytest.mark.parametrize(("raw", "ours"), [(b"1", 1), (b"1.0", 1), (b'"1"', 1), (b"2", 0), (b"true", 0), (b"null", 0)])
def test_ids_come_back_in_the_ways_sdks_accept(raw, ours):
    (message,) = messages.read_messages(b'{"id":' + raw + b',"result":{}}')
    assert message.answers(1) == bool(ours)


def test_a_message_without_an_id_answers_nothing():
    assert not messages.read_messages(b'{"result":{}}')[0].answers(1)


def test_a_request_named_like_the_notification_is_none():
    (message,) = messages.read_messages(b'{"id":3,"method":"notifications/tools/list_changed"}')
    assert not message.is_list_changed()


def test_error_null_is_no_error():
    (message,) = messages.read_messages(b'{"id":1,"result":{},"error":null}')
    assert message.error_object() == b""


@pytest.mark.parametrize("body", [b"", b"  \n", b"[1]", b"3", b'"text"', b"null", b"[null]"])
def test_json_without_messages_is_not_mcp(body):
    with pytest.raises(NotMcpError):
        messages.read_messages(body)


@pytest.mark.parametrize(
    "body",
    [b"<html>", b'{"id":1,"result":{"x":NaN}}', b'{"id":1,"result":[Infinity]}', b'{"id":1', b'{"id":1}x', b"{]}"],
)
def test_no_json_is_named(body):
    with pytest.raises(BadJsonError):
        messages.read_messages(body)


def test_depth_is_capped_at_64():
    assert messages.read_messages(nested(64))
    for levels in (65, 500, 20_000):
        with pytest.raises(TooDeepError):
            messages.read_messages(nested(levels))


def test_a_deep_body_that_never_closes_is_refused_too():
    with pytest.raises((TooDeepError, BadJsonError)):
        messages.read_messages(b'{"result":' + b"[" * 100_000)


def test_brackets_and_commas_in_strings_do_not_count():
    text = json.dumps({"id": 1, "result": "[{" * 500 + '\\"' * 300 + "\\" * 301 + ",]" * 300_000})
    assert messages.read_messages(text.encode())


def test_values_are_capped_at_200_000():
    assert messages.read_messages(b'{"result":[' + b"1," * 150_000 + b"1]}")
    with pytest.raises(TooDeepError):
        messages.read_messages(b'{"result":[' + b"1," * 200_000 + b"1]}")


@given(JSON)
def test_shape_agrees_with_a_real_parse(value):
    for body in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        raw = body.encode("utf-8", "surrogatepass")
        for wrap in (0, 62, 64, 70):
            wrapped = b"[" * wrap + raw + b"]" * wrap
            if depth(value) + wrap > messages.MAX_DEPTH:
                with pytest.raises(TooDeepError):
                    messages.check_shape(wrapped)
            else:
                messages.check_shape(wrapped)


class Parts(msgspec.Struct):
    a: msgspec.Raw = msgspec.Raw()
    b: msgspec.Raw = msgspec.Raw()


@pytest.mark.parametrize(
    "piece",
    [
        rb'"\ud800"', rb'"\udc00 \\ud800 \\\ud800"', rb'{"k\uDfFf":["\ud83d\ude00\ud83d"]}', rb'"\\\\\ud8ab\\"',
    ],
)  # fmt: skip
def test_a_lone_surrogate_costs_nothing_but_itself(piece):
    body = b'{"a":' + piece + b',"b":[1,' + piece + b',"\\u00e9\xc3\xa9"]}'
    parts = messages.split(body, Parts)
    assert bytes(parts.a) == piece
    assert messages.split_array(parts.b) == [b"1", piece, b'"\\u00e9\xc3\xa9"']
    assert messages.value(parts.a) == json.loads(piece)
    (again,) = messages.split_list(b"[" + body + b"]", Parts)
    assert bytes(again.b) == bytes(parts.b)


def test_surrogates_do_not_excuse_bad_json():
    for body in (rb'{"a":"\ud800","b":NaN}', rb'{"a":"\ud800"', rb'{"a":"\ud800 \x"}'):
        with pytest.raises(BadJsonError):
            messages.split(body, Parts)
    with pytest.raises(BadJsonError):
        messages.value(rb'["\ud800",NaN]')
    with pytest.raises(BadResultError):
        messages.split(rb'["\ud800"]', Parts)
    with pytest.raises(BadJsonError):
        messages.split(b'{"a":"\xff\xfed800 \\ud800"}', Parts)


@pytest.mark.parametrize(
    ("raw", "code", "message"),
    [
        (b'{"code":-32601,"message":"no\\u001b[31m","data":[1]}', -32601, "no\\u{1B}[31m"),
        (b'{"code":"x","message":7}', 0, "7"),
        (b'"boom"', 0, "boom"),
        (b"{}", 0, ""),
        (b'{"code":true}', 0, ""),
    ],
)
def test_error_objects_of_any_shape_are_readable(raw, code, message):
    failure = messages.failure(raw)
    assert (failure.code, failure.message) == (code, message)


def test_requests_and_notifications_are_json_rpc():
    assert json.loads(messages.request("tools/list", {"cursor": ""}, 1)) == {
        "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"cursor": ""},
    }  # fmt: skip
    assert json.loads(messages.notification("notifications/initialized")) == {
        "jsonrpc": "2.0", "method": "notifications/initialized",
    }  # fmt: skip
