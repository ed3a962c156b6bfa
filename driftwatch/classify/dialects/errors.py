"""Why a schema could not be read."""

from __future__ import annotations


class SchemaError(Exception):
    """A schema that has no meaning we can compute.

    ``reason`` is stable and kebab-case, ``pointer`` leads into the schema.
    """

    def __init__(self, reason: str, pointer: str, detail: str = "") -> None:
        super().__init__(f"{reason} at {pointer or '/'}{': ' if detail else ''}{detail}")
        self.reason = reason
        self.pointer = pointer
        self.detail = detail
