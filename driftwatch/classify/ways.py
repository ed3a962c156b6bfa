"""In how many ways a schema can be satisfied, counted without solving it: what a normal form by cases would cost."""

from __future__ import annotations

from typing import Any

from driftwatch.classify.dialect import Dialect
from driftwatch.classify.keywords import children

_CHOICES = frozenset({"anyOf", "oneOf"})
_CONDITIONS = frozenset({"dependentRequired", "dependentSchemas", "dependencies"})


def most(schema: Any, dialect: Dialect) -> int:
    """The largest number of combinations of branches at any one place of the document."""
    return max(_counted(schema, dialect))


def _counted(schema: Any, dialect: Dialect) -> tuple[int, int]:
    """The combinations at this place, and the most at any place below."""
    if not isinstance(schema, dict) or not any(isinstance(value, dict | list) for value in schema.values()):
        return 1, 1
    here = below = 1
    choices: dict[str, int] = {}
    for tokens, child in children(schema, dialect):
        ways, deeper = _counted(child, dialect)
        below = max(below, deeper)
        if tokens[0] == "allOf":
            here *= ways
        elif tokens[0] in _CHOICES:
            choices[tokens[0]] = choices.get(tokens[0], 0) + ways
        elif tokens[0] in ("if", "then", "else", "not"):
            here *= ways
        else:
            below = max(below, ways)
    for number in choices.values():
        here *= number
    here *= 2 ** (("if" in schema) + sum(len(schema[word]) for word in _CONDITIONS & schema.keys()))
    return here, below
