"""Ajv 8 without Node: whether a value is refused under a schema, and in which words."""

from __future__ import annotations

from typing import Any, Final

import jsonschema_rs

from driftwatch.classify import invalid
from driftwatch.classify.clients import ajv_words, formats, javascript
from driftwatch.classify.clients.ajv_compile import Rewriter
from driftwatch.classify.clients.ajv_document import CompileError, NotReadableError
from driftwatch.classify.clients.ajv_keywords import Engine
from driftwatch.classify.dialect import Schema
from driftwatch.classify.gate import Refusal
from driftwatch.classify.normal import Normal

__all__ = ["Ajv", "CompileError", "NotReadableError"]

_BACKTRACKS: Final = 100_000
_ENDLESS: Final = Refusal("Maximum call stack size exceeded", "")


class Ajv:
    """One schema, compiled once by one of Ajv's classes.

    Raises CompileError where Ajv would throw, NotReadableError for what jsonschema-rs cannot stand in for.
    """

    def __init__(self, schema: dict[str, Any], engine: Engine) -> None:
        # The promise of an asynchronous schema counts as valid, whatever it will say.
        self._accepts_all = bool(schema.get("$async"))
        self._body = Rewriter(schema, engine).body()
        self._endless = invalid.recursion(Normal(self._body, "2020-12")) is not None
        self._validator = None if self._endless else _compiled(self._body)

    @property
    def body(self) -> Schema:
        """The schema as Ajv reads it, in 2020-12 with formats asserted."""
        return self._body

    def refusal(self, value: Any) -> Refusal | None:
        """Why the value is refused: Ajv's first complaint; None: accepted."""
        if self._accepts_all:
            return None
        if self._validator is None:
            return _ENDLESS
        try:
            for error in self._validator.iter_errors(javascript.value(value)):
                return ajv_words.of(error)
        except (ValueError, UnicodeError, OverflowError) as error:
            raise NotReadableError(str(error)) from error
        return None


def _compiled(body: Schema) -> jsonschema_rs.Validator:
    problem: Exception | None = None
    for engine in (jsonschema_rs.RegexOptions(), jsonschema_rs.FancyRegexOptions(backtrack_limit=_BACKTRACKS)):
        try:
            return jsonschema_rs.Draft202012Validator(
                body,
                formats=dict(formats.STRINGS),
                validate_formats=True,
                keywords={javascript.MULTIPLE_OF: javascript.MultipleOf},
                pattern_options=engine,
                offline=True,
            )
        except (ValueError, jsonschema_rs.ReferencingError) as error:
            problem = error
    raise NotReadableError(str(problem).split("\n")[0])
