"""What a server says of itself beside its tools, and what it said before. Pure; every text is the server's."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from driftwatch.history.views import ListView, Statement
from driftwatch.web.pages import words


@dataclass(frozen=True, slots=True)
class Line:
    """A field that began to say something else; a field that is not there says ``–``."""

    at: datetime
    clients: str
    field: str
    old: str
    new: str


def instructions(lists: Iterable[ListView]) -> list[tuple[str, str]]:
    """The instructions that models get, with the kind of client that is told so; the same ones once."""
    seen: dict[str, str] = {}
    for one in lists:
        if one.instructions:
            seen.setdefault(one.instructions, words.clients(one.era))
    return [(clients, text) for text, clients in seen.items()]


def lines(statements: Sequence[Statement]) -> list[Line]:
    """The statements in the order given."""
    return [
        Line(one.at, words.clients(one.era), one.field.lstrip("/").replace("/", "."), _shown(one.old), _shown(one.new))
        for one in statements
    ]


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    return value if isinstance(value, str) else json.dumps(value)
