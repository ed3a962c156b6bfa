"""One front end per draft: a schema document in, one IR node out. All differences between drafts live here."""

from __future__ import annotations

from typing import Any

from driftwatch.classify.dialects.compiler import Compiler, Dialect
from driftwatch.classify.dialects.drafts import DEFAULT, DIALECTS, named
from driftwatch.classify.dialects.errors import SchemaError
from driftwatch.classify.ir import Node

__all__ = ["DEFAULT", "DIALECTS", "SchemaError", "compile_schema", "dialect_of"]


def dialect_of(schema: Any, default: str | None = None) -> Dialect:
    """The dialect a schema is read in: its ``$schema``, else ``default``, else 2020-12. Raises SchemaError."""
    declared = schema.get("$schema") if isinstance(schema, dict) else None
    if isinstance(declared, str):
        found = named(declared)
        if found is None:
            raise SchemaError("unknown-dialect", "/$schema", declared)
        return found
    return DIALECTS[default or DEFAULT]


def compile_schema(schema: Any, dialect: str | None = None, *, formats: bool = False) -> Node:
    """The IR node of a schema. ``dialect`` wins over ``$schema``. Raises SchemaError.

    The node's digest is the semantic digest: equal digests are equal meanings, in any dialect and spelling. A document
    that holds schemas with another ``$schema`` (one schema wrapped in another) has a node where it means the same
    whether a validator heeds those or not.
    """
    chosen = DIALECTS[dialect] if dialect else dialect_of(schema)
    try:
        return _compiled(schema, chosen, formats)
    except (AttributeError, TypeError, ValueError, ArithmeticError) as error:
        # A keyword holds something its draft does not allow: a list of numbers for names, NaN, 5 000 digits, a bad URI.
        raise SchemaError("invalid-schema", "", str(error)) from error


def _compiled(schema: Any, dialect: Dialect, formats: bool) -> Node:
    compiler = Compiler(schema, dialect, formats=formats)
    node = compiler.compile()
    if compiler.embedded is None:
        return node
    if Compiler(schema, dialect, formats=formats, switching=named).compile() is not node:
        raise compiler.embedded
    return node
