"""One schema of a question, read as far as it can be: the work that does not depend on what it is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from driftwatch.classify import dialect, invalid, limits
from driftwatch.classify.dialect import Dialect, Schema
from driftwatch.classify.reading import Reading
from driftwatch.classify.verdict import Policy, Root


@dataclass(frozen=True, slots=True)
class Side:
    """One schema: its dialect (None: unknown), its reading, or what is wrong with it. ``nodes``: how large it is."""

    schema: Schema
    dialect: Dialect | None
    reading: Reading | None = None
    problem: invalid.Problem | None = None
    limit: str | None = None
    absent: bool = False
    nodes: int = 1


def read(schema: Any, given: str | None, root: Root, policy: Policy) -> Side:
    """The side of ``schema`` (None: absent, which accepts everything). ``given``: the dialect a caller names."""
    if schema is None:
        known = dialect.DEFAULT if given is None else dialect.named(given)
        return Side(True, known, Reading(True, known or dialect.DEFAULT, root, policy), absent=True)
    size = limits.measured(schema)
    if size.exceeded is not None:
        return Side(schema, None, limit=size.exceeded, nodes=size.nodes)
    known = dialect.of(schema, given)
    if known is None:
        return Side(schema, None, nodes=size.nodes)
    reading = Reading(schema, known, root, policy)
    problem = invalid.written(schema, known) or invalid.meant(reading)
    return Side(schema, known, reading, problem, nodes=size.nodes)
