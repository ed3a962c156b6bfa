"""The pattern parser against a real ECMAScript engine (regress)."""

# ruff: noqa: E501 - tables read best with one case per line

from __future__ import annotations

import pytest
import regress
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.classify import classify
from driftwatch.classify.pattern.match import matches, supported
from driftwatch.classify.pattern.syntax import PatternError, check

PATTERNS = (
    r"\Z", "a{,3}", r"(?<=a)b", r"\1(a)", r"(?<n>a)\k<n>", r"\p{L}", "[", "a{2", "(?i)a", r"\d+(?=x)", r"\-", r"[\w-a]",
    r"\_", r"^[^\s]+$", r"\u{1F600}", r"\cA", r"(?<=a+)b", "[a-z&&[b]]", r"\x41", "(?:a|b)*+", r"\/", r"\e", r"\a",
    "^[a-z0-9]+(-[a-z0-9]+)*$", r"^\d{3}-\d{4}$", "a{2}{3}", "}", "]", "a**", r"\00", r"\2(a)", r"[\d-x]", "[]", "[^]",
    "(?=a)*", r"^\+?[1-9]\d{1,14}$", r"\p{Script=Greek}", "a|*", "[z-a]", "a{3,2}", r"[\-]", r"[\b]", "(", ")", "(?<a", "^*",
    r"\ud83d\ude00", "x{1}", "x{1,}", "x{1,2}?", "(?:)", "(?!a)b", "[^a-z]", r"\0", r"[\0]", r"\u00e9", r"\u{}", r"\x4",
)  # fmt: skip


def engine_accepts(pattern: str) -> bool:
    try:
        regress.Regex(pattern, "u")
    except regress.RegressError:
        return False
    return True


def parses(pattern: str) -> bool:
    try:
        check(pattern)
    except PatternError:
        return False
    return True


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_parser_agrees_with_an_engine(pattern: str) -> None:
    assert parses(pattern) is engine_accepts(pattern)


@given(st.text(alphabet="ab^$\\.*+?()[]{}|/-,:=!<>0123dwsbB", max_size=8))
def test_the_parser_agrees_with_an_engine_on_noise(pattern: str) -> None:
    assert parses(pattern) is engine_accepts(pattern)


def test_a_pattern_that_backtracks_for_ever_ends() -> None:
    assert matches(r"^(a+)+\1$", "a" * 40 + "b") is False


def test_a_pattern_nobody_supports_matches_nothing() -> None:
    assert matches("(", "(") is False


RESPELLED = (
    *(r"^[^]$", r"[]", r"a[]b", r"[^]a", r"\\[^]", r"[[]", r"[\]]", r"^[^[]$", r"^[^\b]$", r"[\b]", r"\0", r"^[^\0]$"),
    *(r"\uD83D\uDE00", r"^[\uD83D\uDE00-\uD83D\uDE4F]$", r"\uD83D", r"^[^\uD800-\uDFFF]*$", r"[a\uD800-\uDFFF]"),
    *(r"(?<a>x)|(?<a>y)", r"(?<a>x)(?<b>y)", r"[(?<a>]", r"(?<=a)b", r"(?<!a)b"),
)
TEXTS = (
    *("", "a", "b", "ab", "x", "y", "xy", "\0", "\b", "😀", "🙏", "🙏a", "]", "[", "(", "?", "<", ">"),
    "\\",
    "\\a",
    "\n",
)


@pytest.mark.parametrize("pattern", RESPELLED)
def test_valid_patterns_that_the_validator_refuses_are_respelled(pattern: str) -> None:
    """The matcher, an ECMA-262 engine and a verdict agree about what such a pattern means."""
    oracle = regress.Regex(pattern, "u")
    assert supported(pattern)
    for text in TEXTS:
        assert matches(pattern, text) == (oracle.find(text) is not None), text
    for schema in ({"pattern": pattern}, {"patternProperties": {pattern: False}}):
        assert classify(schema, {"allOf": [schema]}, direction="output").outcome == "compatible"
        assert classify({"not": {}}, {**schema, "type": ["string", "object"]}, direction="output").outcome == "breaking"


def test_a_surrogate_that_stands_alone_in_a_class_is_left_to_nobody() -> None:
    assert not supported(r"^[\u0000-\uDFFF]$")
    assert classify({"pattern": r"[\u0000-\uDFFF]"}, {"pattern": "b"}, direction="output").outcome == "undecided"


def test_patterns_that_become_one_both_hold() -> None:
    both = {"patternProperties": {r"\uD83D\uDE00": {"minLength": 1}, r"\u{1F600}": {"maxLength": 2}, "[]": False}}
    one = {"patternProperties": {"😀": {"minLength": 1, "maxLength": 2}}}
    for old, new in ((both, one), (one, both)):
        assert classify(old, new, direction="output").outcome == "compatible"
    assert classify(one, {"patternProperties": {r"\u{1F600}": {"maxLength": 2}}}, direction="output").has_witness


@pytest.mark.parametrize("pattern", [r"(?<n>a)(?<n>b)", r"((?<n>a))(?<n>)"])
def test_a_group_name_is_used_once(pattern: str) -> None:
    with pytest.raises(PatternError, match="used twice"):
        check(pattern)
    check(r"(?<n>a)|(?<n>b)")
