"""Definitions that client SDKs refuse.

No schema at all, a reference that leads nowhere, recursion without progress, a pattern no ECMA-262 engine compiles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import jsonschema_rs

from driftwatch.classify.dialect import Dialect, Schema, marked
from driftwatch.classify.keywords import IN_PLACE, VOCABULARY, held, pointer, positions
from driftwatch.classify.normal import Normal
from driftwatch.classify.pattern.syntax import PatternError, check
from driftwatch.classify.reading import Reading

REASON: Final = "invalid-schema"


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a schema is refused, in the validator's words where there are any, and where."""

    message: str
    pointer: str = ""


def written(schema: Any, dialect: Dialect) -> Problem | None:
    """What is wrong with the document as written, or None: its form under the meta-schema, then its patterns."""
    if not isinstance(schema, dict | bool):
        return Problem(f"a schema must be an object or a boolean, not {type(schema).__name__}")
    if isinstance(schema, bool):
        if dialect == "draft-04":
            return Problem("draft-04 has no boolean schemas")
        return None
    return _pattern_problem(schema, dialect) or _form_problem(schema, dialect)


def _form_problem(schema: dict[str, Any], dialect: Dialect) -> Problem | None:
    try:
        jsonschema_rs.meta.validate(marked(schema, dialect))
    except jsonschema_rs.ValidationError as error:
        # jsonschema-rs compiles fewer patterns than ECMA-262 knows; the syntax check above already judged them.
        if error.kind.name != "format":
            return Problem(error.message, pointer(tuple(error.instance_path)))
    return None


def _pattern_problem(schema: dict[str, Any], dialect: Dialect) -> Problem | None:
    if not _mentions_patterns(schema):
        return None
    for at, node in positions(schema, dialect):
        for tokens, pattern in _patterns(node):
            try:
                check(pattern)
            except PatternError as error:
                return Problem(f"pattern {pattern!r} is not valid: {error}", pointer((*at, *tokens)))
    return None


def _mentions_patterns(value: Any) -> bool:
    """Whether a key anywhere is called like a keyword with patterns; most documents have none."""
    pending: list[Any] = [value]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            if "pattern" in node or "patternProperties" in node:
                return True
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)
    return False


def _patterns(node: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(node.get("pattern"), str):
        yield ("pattern",), node["pattern"]
    if isinstance(node.get("patternProperties"), dict):
        for pattern in node["patternProperties"]:
            yield ("patternProperties", pattern), pattern


def meant(reading: Reading) -> Problem | None:
    """What is wrong with what a well-formed document refers to, or None."""
    lost = reading.unresolved
    if lost is not None:
        return Problem(str(lost), lost.at)
    return None if reading.normal is None else recursion(reading.normal)


def recursion(normal: Normal) -> Problem | None:
    """A definition that needs itself to judge the very same value: no validator can end, most refuse to start."""
    edges = {name: tuple(_reached(body, normal.dialect)) for name, body in normal.definitions.items()}
    done: set[str] = set()
    for start in edges:
        if _cycle(start, edges, done):
            return Problem(f"`#/$defs/{start}` refers to itself without consuming anything")
    return None


def _cycle(start: str, edges: dict[str, tuple[str, ...]], done: set[str]) -> bool:
    path: list[str] = []
    pending: list[tuple[str, bool]] = [(start, False)]
    while pending:
        name, leaving = pending.pop()
        if leaving:
            path.pop()
            done.add(name)
        elif name in path:
            return True
        elif name not in done:
            path.append(name)
            pending.append((name, True))
            pending.extend((following, False) for following in edges.get(name, ()))
    return False


def _reached(schema: Schema, dialect: Dialect) -> Iterator[str]:
    """Names of the definitions that judge the same instance as ``schema``."""
    pending: list[Any] = [schema]
    while pending:
        node = pending.pop()
        if not isinstance(node, dict):
            continue
        if "$ref" in node:
            yield node["$ref"].rsplit("/", 1)[1]
        for word in IN_PLACE & node.keys():
            pending.extend(child for _, child in held(VOCABULARY[dialect].get(word, "value"), node[word]))
