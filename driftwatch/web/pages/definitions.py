"""A stored tool definition taken apart for people: schemas, words, hints, the rest. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from driftwatch.web.pages import contract, schema_words
from driftwatch.web.pages.contract import Contract, Row

PARTS: Final = ("input", "output", "annotations", "text", "meta")
_TEXT: Final = ("title", "description")
_KNOWN: Final = frozenset({"name", "inputSchema", "outputSchema", "annotations", *_TEXT})
MAX_TEXT: Final = 1_500


@dataclass(frozen=True, slots=True)
class Definition:
    """One version of a tool as it was listed. ``broken``: the bytes are not a JSON object."""

    raw: bytes
    body: Mapping[str, Any] = field(default_factory=dict)
    broken: bool = False

    @classmethod
    def of(cls, raw: bytes) -> Definition:
        """Take stored bytes apart; never raises."""
        try:
            body = json.loads(raw)
        except (ValueError, RecursionError):
            return cls(raw, broken=True)
        return cls(raw, body) if isinstance(body, dict) else cls(raw, broken=True)

    def contract(self, part: str) -> Contract | None:
        """The rows of one part; None when it is not declared. Every part has the same shape."""
        if part in ("input", "output"):
            key = f"{part}Schema"
            return contract.read(self.body[key]) if key in self.body else None
        rows = [_row(name, value) for name, value in self._entries(part).items()]
        return Contract(part, tuple(rows)) if rows else None

    def named(self, part: str) -> list[tuple[str, Contract]]:
        """The named definitions of a schema, for those who want to look a reference up."""
        return contract.definitions(self.body.get(f"{part}Schema")) if part in ("input", "output") else []

    def _entries(self, part: str) -> Mapping[str, Any]:
        if part == "text":
            return {key: self.body[key] for key in _TEXT if key in self.body}
        if part == "annotations":
            found = self.body.get("annotations")
            return found if isinstance(found, Mapping) else {}
        return {key: value for key, value in self.body.items() if key not in _KNOWN}

    @property
    def pretty(self) -> str:
        """The definition indented, keys in the server's order; the bytes as they are when they are no JSON."""
        if self.broken:
            return self.raw.decode("utf-8", "replace")
        return json.dumps(self.body, ensure_ascii=False, indent=2)


def _row(name: str, value: Any) -> Row:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return Row(
        path=(name,),
        name=schema_words.clip(name, contract.MAX_NAME),
        depth=0,
        words=schema_words.clip(text, MAX_TEXT),
        required=None,
        pointers=(f"/{name}", f"/annotations/{name}", f"/_meta/{name}"),
    )
