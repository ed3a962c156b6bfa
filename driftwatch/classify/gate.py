"""The witness gate: does a validator accept this value? It reads the document as written, not our normal form.

Only patterns that are valid and that the validator's engines refuse are respelled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import jsonschema_rs

from driftwatch.classify.dialect import VALIDATORS, Dialect, Schema, marked
from driftwatch.classify.keywords import VOCABULARY, pointer, rebuilt
from driftwatch.classify.pattern import respell
from driftwatch.classify.verdict import Policy, Root

_BACKTRACKS: Final = 100_000
#: jsonschema-rs asserts these up to draft-07; no MCP client does
_CONTENT: Final = frozenset({"contentEncoding", "contentMediaType", "contentSchema"})
_ASSERTING: Final[frozenset[Dialect]] = frozenset({"draft-06", "draft-07"})


class GateError(Exception):
    """The validator cannot read this document: a remote reference, or a pattern it does not support."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a value is refused, and where in the value."""

    message: str
    pointer: str


class Gate:
    """One schema, compiled once. ``offline``: nothing is ever fetched; formats are asserted only if the policy says."""

    def __init__(self, schema: Schema, dialect: Dialect, root: Root, policy: Policy) -> None:
        self.root = root
        plain = _without_content(schema, dialect) if dialect in _ASSERTING else schema
        self._validator = _compiled(plain, dialect, policy.formats)

    def accepts(self, value: Any) -> bool:
        """Whether the value is an instance at all (``root``) and valid."""
        if self.root == "object" and not isinstance(value, dict):
            return False
        try:
            return self._validator.is_valid(value)
        except (ValueError, UnicodeError, OverflowError):
            return False

    def refuses(self, value: Any) -> bool:
        """Whether the value is an instance and invalid; an error of the validator is no refusal."""
        if self.root == "object" and not isinstance(value, dict):
            return False
        try:
            return not self._validator.is_valid(value)
        except (ValueError, UnicodeError, OverflowError):
            return False

    def refusal(self, value: Any) -> Refusal | None:
        """The first complaint about ``value``."""
        for error in self._validator.iter_errors(value):
            return Refusal(error.message, pointer(tuple(error.instance_path)))
        return None


def _compiled(schema: Schema, dialect: Dialect, formats: bool) -> jsonschema_rs.Validator:
    # The linear engine first; look-around and back-references need the other one, with a limit on its backtracking.
    engines = (jsonschema_rs.RegexOptions(), jsonschema_rs.FancyRegexOptions(backtrack_limit=_BACKTRACKS))
    problem: Exception | None = None
    for respelled in (False, True):
        document = marked(respell.document(schema, dialect) if respelled else schema, dialect)
        for engine in engines:
            try:
                return VALIDATORS[dialect](document, validate_formats=formats, offline=True, pattern_options=engine)
            except (ValueError, jsonschema_rs.ReferencingError) as error:
                problem = error
    raise GateError(str(problem).split("\n")[0])


def _without_content(schema: Any, dialect: Dialect) -> Any:
    if not isinstance(schema, dict):
        return schema
    words = VOCABULARY[dialect]
    return {
        word: rebuilt(words.get(word, "value"), value, lambda child: _without_content(child, dialect))
        for word, value in schema.items()
        if word not in _CONTENT
    }
