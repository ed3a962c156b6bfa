"""Is a value in a node? The direct reading of the IR, used to try candidates and to check every witness.

Three-valued: None where an opaque part decides.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from driftwatch.classify.ir import (
    And,
    Contains,
    Enum,
    If,
    Items,
    Keys,
    MultipleOf,
    Node,
    Not,
    OneOf,
    Or,
    Pattern,
    Props,
    Range,
    Rec,
    Required,
    Size,
    Unique,
)
from driftwatch.classify.regex.meaning import language
from driftwatch.classify.regex.syntax import RegexError
from driftwatch.classify.regex.words import matches
from driftwatch.classify.values import exact, frozen, kind


def found_in(source: str, text: str) -> bool | None:
    """Is the pattern found in the text? None when we cannot read the pattern."""
    try:
        return matches(language(source), text)
    except RegexError:
        return None


def holds(node: Node, value: Any) -> bool | None:
    """True when the value is in the node."""
    bit = kind(value)
    if node.must & bit:
        return True
    if not node.may & bit:
        return False
    if isinstance(node, And):
        return _every(holds(child, value) for child in node.children)
    if isinstance(node, Or):
        return _some(holds(child, value) for child in node.children)
    if isinstance(node, Not):
        inside = holds(node.child, value)
        return None if inside is None else not inside
    if isinstance(node, Rec):
        return holds(node.body, value)
    if isinstance(node, OneOf):
        return _one([holds(child, value) for child in node.children])
    if isinstance(node, If):
        test = holds(node.test, value)
        if test is None:
            return None
        return holds(node.then if test else node.other, value)
    return _keyword(node, value)


def _keyword(node: Node, value: Any) -> bool | None:
    if isinstance(node, Enum):
        return frozen(value) in node.frozen
    if isinstance(node, Props):
        return _every(_property(node, name, item) for name, item in value.items())
    if isinstance(node, Required):
        return all(name in value for name in node.names)
    if isinstance(node, Size):
        return node.least <= len(value) and (node.most is None or len(value) <= node.most)
    if isinstance(node, Range):
        return _within(node, exact(value))
    if isinstance(node, MultipleOf):
        return Fraction(exact(value), 1) % node.step == 0
    if isinstance(node, Pattern):
        return found_in(node.source, value)
    if isinstance(node, Items):
        return _every(holds(node.at(index), item) for index, item in enumerate(value))
    if isinstance(node, Contains):
        return _counted(node, [holds(node.item, item) for item in value])
    if isinstance(node, Unique):
        return len({frozen(item) for item in value}) == len(value)
    if isinstance(node, Keys):
        return _every(holds(node.key, name) for name in value)
    return None


def _property(node: Props, name: str, item: Any) -> bool | None:
    judges: list[Node] = []
    if name in node.names:
        judges.append(node.names[name])
    for source, judge in node.patterns:
        found = found_in(source, name)
        if found is None:
            return None
        if found:
            judges.append(judge)
    return _every(holds(judge, item) for judge in judges or (node.rest,))


def _within(node: Range, number: Fraction | int) -> bool:
    above = node.low is None or number > node.low or (number == node.low and not node.low_open)
    return above and (node.high is None or number < node.high or (number == node.high and not node.high_open))


def _every(answers: Iterable[bool | None]) -> bool | None:
    result: bool | None = True
    for answer in answers:
        if answer is False:
            return False
        if answer is None:
            result = None
    return result


def _some(answers: Iterable[bool | None]) -> bool | None:
    result: bool | None = False
    for answer in answers:
        if answer is True:
            return True
        if answer is None:
            result = None
    return result


def _one(answers: list[bool | None]) -> bool | None:
    sure = answers.count(True)
    if sure > 1:
        return False
    return None if None in answers else sure == 1


def _counted(node: Contains, answers: list[bool | None]) -> bool | None:
    low, high = answers.count(True), len(answers) - answers.count(False)
    if low >= node.least and (node.most is None or high <= node.most):
        return True
    if high < node.least or (node.most is not None and low > node.most):
        return False
    return None
