from __future__ import annotations

import json
import struct
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.capture.canonical import canonical, duplicate_keys, parse, rescue_name
from driftwatch.capture.errors import LoneSurrogateError, NotJsonError, NumberOutOfRangeError, TooDeepError
from driftwatch.errors import CaptureError

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
numbers = st.integers(-(10**40), 10**40) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


def form(text: str) -> str:
    return canonical(parse(text.encode())).data.decode()


@given(values)
def test_reading_the_canonical_form_gives_the_value_back(value: Any) -> None:
    text = json.dumps(value)
    read = parse(text.encode())
    once = canonical(read)
    assert json.loads(once.data, parse_int=float) == json.loads(text, parse_int=float)
    assert parse(once.data) == read
    assert canonical(parse(once.data)) == once


@given(st.dictionaries(texts, values, max_size=5), st.randoms(use_true_random=False))
def test_key_order_and_white_space_are_nothing(value: dict[str, Any], random: Any) -> None:
    keys = list(value)
    random.shuffle(keys)
    shuffled = {key: value[key] for key in keys}
    spaced = json.dumps(shuffled, indent=3, ensure_ascii=random.random() < 0.5).encode()
    assert canonical(parse(spaced)).data == canonical(parse(json.dumps(value).encode())).data


@given(st.integers(-(10**25), 10**25), st.integers(0, 4))
def test_one_number_has_one_form(whole: int, zeros: int) -> None:
    spellings = [str(whole), f"{whole}.{'0' * (zeros + 1)}", f"{whole * 10**zeros}e-{zeros}", f"{whole}E+0"]
    assert len({form(text) for text in spellings}) == 1
    assert parse(spellings[1].encode()) == whole


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_doubles_are_written_as_ecmascript_writes_them(value: float) -> None:
    found = canonical(value)
    assert found.algo == 1
    assert float(found.data) == value
    assert len(found.data.lstrip(b"-").replace(b".", b"").split(b"e")[0].strip(b"0")) <= 17


# The sample of RFC 8785, Appendix B: IEEE 754 bits and what ECMAScript writes.
@pytest.mark.parametrize(
    ("bits", "text"),
    [
        ("0000000000000000", "0"),
        ("8000000000000000", "0"),
        ("0000000000000001", "5e-324"),
        ("8000000000000001", "-5e-324"),
        ("7fefffffffffffff", "1.7976931348623157e+308"),
        ("4340000000000000", "9007199254740992"),
        ("c340000000000000", "-9007199254740992"),
        ("444b1ae4d6e2ef4e", "999999999999999700000"),
        ("444b1ae4d6e2ef50", "1e+21"),
        ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
        ("3eb0c6f7a0b5ed8d", "0.000001"),
        ("41b3de4355555553", "333333333.3333332"),
        ("41b3de4355555556", "333333333.3333334"),
        ("becbf647612f3696", "-0.0000033333333333333333"),
    ],
)
def test_rfc_8785_numbers(bits: str, text: str) -> None:
    (value,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical(value).data.decode() == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("18446744073709551616", "18446744073709551616"),
        ("9007199254740993", "9007199254740993"),
        ("0.1000000000000000055", "0.1000000000000000055"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("1e-400", "1e-400"),
    ],
)
def test_digits_that_a_double_would_change_are_kept(text: str, expected: str) -> None:
    found = canonical(parse(text.encode()))
    assert (found.data.decode(), found.algo) == (expected, 2)
    assert parse(found.data) == (int(text) if text.isdigit() else Decimal(text))


def test_keys_are_ordered_by_utf_16_code_units() -> None:
    keys = ["€", "\r", "\ufb33", "1", "😀", "\x80", "ö"]
    assert list(json.loads(canonical(dict.fromkeys(keys, 0)).data)) == ["\r", "1", "\x80", "ö", "€", "😀", "\ufb33"]


def test_only_what_must_be_escaped_is_escaped() -> None:
    assert (
        canonical('\x00\x08\t\n\x0c\r\x1f"\\/\x7fé😀').data
        == b'"\\u0000\\b\\t\\n\\f\\r\\u001f\\"\\\\/\x7f\xc3\xa9\xf0\x9f\x98\x80"'
    )


def test_true_is_not_one_and_null_is_not_absent() -> None:
    assert len({form(text) for text in ('{"a":true}', '{"a":1}', '{"a":null}', "{}", '{"a":"1"}')}) == 5


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b'{"a": NaN}', NotJsonError),
        (b"[Infinity]", NotJsonError),
        (b"{", NotJsonError),
        (b"", NotJsonError),
        (b'"\xff"', NotJsonError),
        (b'{"a": "\\ud800"}', LoneSurrogateError),
        (b'{"\\udc00x": 1}', LoneSurrogateError),
        (b"9" * 4301, NumberOutOfRangeError),
        (b"1e400", NumberOutOfRangeError),
        (b"-1e999999999999999999999", NumberOutOfRangeError),
        (b"1e-999999999", NumberOutOfRangeError),
        (b"[" * 100_000, TooDeepError),
    ],
)
def test_what_no_client_can_hold_is_refused_by_name(data: bytes, error: type[CaptureError]) -> None:
    with pytest.raises(error):
        parse(data)


@pytest.mark.parametrize(
    ("value", "error"),
    [(float("inf"), NumberOutOfRangeError), (float("nan"), NumberOutOfRangeError), ("\ud800", LoneSurrogateError)],
)
def test_what_json_cannot_spell_is_not_written(value: Any, error: type[CaptureError]) -> None:
    with pytest.raises(error):
        canonical([value])


def test_deep_values_are_not_written() -> None:
    value: Any = 0
    for _ in range(300):
        value = [value]
    with pytest.raises(TooDeepError):
        canonical(value)


def test_the_longest_integer_is_exact() -> None:
    digits = "9" * 4300
    assert parse(digits.encode()) == int(digits)
    assert parse(canonical(parse(digits.encode())).data) == int(digits)


def test_repeated_keys_are_named_and_the_last_one_counts() -> None:
    data = b'{"a": 1, "b": {"c": 1, "c": 2}, "a": 3}'
    assert set(duplicate_keys(data)) == {"a", "c"}
    assert parse(data) == {"a": 3, "b": {"c": 2}}
    assert duplicate_keys(b'{"a": {"a": 1}}') == ()


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b'{"name": "x", "description": "\\ud800"}', "x"),
        (b'{"name": "x", "maximum": ' + b"9" * 5000 + b"}", "x"),
        (b'{"name": "x", "a": NaN}', None),
        (b'{"name": 5}', None),
        (b"[]", None),
        (b"{", None),
    ],
)
def test_a_name_is_rescued_from_bytes_that_cannot_be_parsed(data: bytes, name: str | None) -> None:
    assert rescue_name(data) == name
