"""The regex engine against ECMA-262: facts by hand, then thousands of patterns against an ECMA matcher."""

from __future__ import annotations

import random

import pytest
import regress
from builders.patterns import STRINGS, Patterns

from driftwatch.classify.budget import Budget, BudgetExceeded
from driftwatch.classify.regex import terms
from driftwatch.classify.regex.charset import has
from driftwatch.classify.regex.meaning import language
from driftwatch.classify.regex.properties import property_members
from driftwatch.classify.regex.syntax import RegexError
from driftwatch.classify.regex.terms import EVERYTHING, NONE, intersection, negation
from driftwatch.classify.regex.words import matches, shortest


def found(pattern: str, text: str) -> bool:
    return matches(language(pattern), text)


def word(term: terms.Term) -> str | None:
    return shortest(term, Budget(20_000, 5))


def missing(one: str, two: str) -> str | None:
    """A shortest string in which the first pattern is found and the second is not."""
    return word(intersection([language(one), negation(language(two))]))


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("^a$", "a\n", False),
        (r"^\d$", "٣", False),
        (r"^\w$", "é", False),
        (r"^\s$", "\ufeff", True),
        (r"^\s$", "\x85", False),
        ("^.$", "\u2028", False),
        ("^.$", "😀", True),
        ("^[😀]$", "😀", True),
        (r"^\ud83d\ude00$", "😀", True),
        ("b", "abc", True),
        ("", "anything", True),
        ("[]", "", False),
        ("^[^]$", "\n", True),
        ("^(?!x)[a-z]$", "y", True),
        ("^(?!x)[a-z]$", "x", False),
        ("(?:^|,)b", "a,b", True),
        ("(?:^|,)b", "ab", False),
        ("a*^b", "ab", False),
        ("a*^b", "b", True),
        ("^(?:a+)+$", "aaa", True),
        ("^(?:(?:a|b{2})*c)*$", "abbcc", True),
        ("^(?:ab?){2,3}$", "abaab", True),
        ("^(?:ab?){2,3}$", "a", False),
        ("^(?:a?){3}$", "aa", True),
        ("^(?:a?){3}$", "aaaa", False),
        (r"^\p{Letter}$", "é", True),
        (r"^\p{Lu}+$", "ÀB", True),
        (r"^\p{Lu}$", "a", False),
        (r"^[\p{gc=Nd}_]+$", "٣_4", True),
        (r"^\P{L}$", "é", False),
        (r"^\p{ASCII}$", "é", False),
        (r"^\p{Any}$", "😀", True),
        (r"^\p{Co}$", "\U000f0000", True),
        (r"^\p{LC}$", "ª", False),
        (r"^\p{Assigned}$", "\uffff", False),
    ],
)
def test_facts(pattern: str, text: str, expected: bool) -> None:
    assert found(pattern, text) is expected


@pytest.mark.parametrize(
    "pattern", ["(", "a{2,1}", "*a", r"\Z", "a{,3}", "[b-a]", r"\u{110000}", "(?<1>a)", "a)", r"\xg0", r"\p", r"\p{L"]
)
def test_invalid_patterns_are_named(pattern: str) -> None:
    with pytest.raises(RegexError, match="invalid-pattern"):
        language(pattern)


@pytest.mark.parametrize("pattern", [r"(a)\1", r"\bword", "(?<=a)b", "(?<!a)b", r"\p{Nobody}", "(?:^a)*", "(?i:a)"])
def test_patterns_outside_the_fragment_are_named(pattern: str) -> None:
    with pytest.raises(RegexError, match="unsupported-pattern"):
        language(pattern)


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        (r"^\d+$", "^[0-9]+$", None),
        ("^[a-z]{1,200}$", "^[a-z0-9]{1,201}$", None),
        ("^(a|b)*abb$", "^[ab]*$", None),
        ("^[ab]*$", "^(a|b)*abb$", ""),
        ("a", "^.*a.*$", "a\n"),
        ("^(?!x)[a-z]$", "^[a-wyz]$", None),
        ("^[A-Z][A-Z0-9_]+-\\d+$", "^[A-Z][A-Z0-9_]+-\\d+(?:-\\d+)*$", None),
        ("^[A-Z][A-Z0-9_]+-\\d+(?:-\\d+)*$", "^[A-Z][A-Z0-9_]+-\\d+$", "AA-0-0"),
    ],
)
def test_inclusion(one: str, two: str, expected: str | None) -> None:
    text = missing(one, two)
    assert (text is None) == (expected is None)
    if text is not None and expected is not None:
        assert len(text) == len(expected)


def test_nothing_and_everything() -> None:
    assert language("") is EVERYTHING
    assert language("^") is EVERYTHING
    assert word(language("[]")) is None
    assert word(intersection([language("^a"), language("^b")])) is None
    assert intersection([language("^a"), NONE]) is NONE
    assert negation(negation(language("a+b"))) is language("a+b")


def test_an_exponential_language_ends_with_the_budget() -> None:
    bomb = intersection([language("^(a|b)*a(a|b){30}$"), negation(language("^[ab]*b[ab]{30}$")), language("^b")])
    with pytest.raises(BudgetExceeded):
        shortest(intersection([bomb, negation(language("^[ab]*a[ab]{30}$"))]), Budget(2_000, 5))
    terms.forget(0)


def test_four_thousand_patterns_against_an_ecma_matcher() -> None:
    stream = Patterns(20)
    rnd = random.Random(20)
    checks, skipped = 0, 0
    for _ in range(4_000):
        pattern = stream.pattern()
        oracle = regress.Regex(pattern, "u")
        try:
            term = language(pattern)
        except RegexError:
            skipped += 1
            continue
        for text in rnd.sample(STRINGS, 14):
            assert matches(term, text) == (oracle.find(text) is not None), (pattern, text)
            checks += 1
        inside = word(term)
        assert inside is None or oracle.find(inside) is not None, (pattern, inside)
        outside = word(negation(term))
        assert outside is None or oracle.find(outside) is None, (pattern, outside)
    assert checks >= 50_000
    assert skipped < 100


@pytest.mark.parametrize(
    "name",
    ["Script=Greek", "sc=Latn", "scx=Cyrillic", "Alphabetic", "White_Space", "AHex", "Emoji", "Uppercase", "ID_Start"],
)
def test_properties_are_those_of_the_oracle(name: str) -> None:
    """In the planes and blocks that no Unicode version of these years touches."""
    members, oracle = property_members(name), regress.Regex(f"^\\p{{{name}}}$", "u")
    assert members
    codes = [*range(0x250), *range(0x370, 0x530), *range(0x2000, 0x2070), *range(0x1F600, 0x1F650), 0x10FFFF]
    wrong = [code for code in codes if has(members, code) != (oracle.find(chr(code)) is not None)]
    assert wrong == []


@pytest.mark.parametrize("name", ["Greek", "script=Greek", "Script=Nope", "Foo", "Script=Unknown", "emoji", ""])
def test_properties_that_nobody_knows(name: str) -> None:
    assert property_members(name) is None
