"""Whom a setting is for, as one value of a form: everything, a server, or a tag. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from driftwatch.errors import InputError
from driftwatch.web.pages.forms import LARGEST_ID

EVERYTHING: Final = "all"


@dataclass(frozen=True, slots=True)
class Scope:
    """Neither server nor tag: everything."""

    server_id: int | None = None
    tag: str | None = None

    @classmethod
    def of(cls, text: str) -> Scope:
        """``all``, ``server:12`` or ``tag:prod``. Raises InputError."""
        kind, _, value = text.partition(":")
        if text in {"", EVERYTHING}:
            return cls()
        if kind == "server" and value.isascii() and value.isdigit() and int(value) <= LARGEST_ID:
            return cls(server_id=int(value))
        if kind == "tag" and 0 < len(value) <= 100:
            return cls(tag=value)
        raise InputError(f"{text!r} is no scope", hint="choose everything, a server or a tag")

    @classmethod
    def of_row(cls, row: Any) -> Scope:
        """The scope of a stored rule, window or line; what has no tag is for a server or everything."""
        return cls(row.server_id, getattr(row, "tag", None))

    @property
    def value(self) -> str:
        """What a form sends."""
        if self.server_id is not None:
            return f"server:{self.server_id}"
        return EVERYTHING if self.tag is None else f"tag:{self.tag}"

    @property
    def query(self) -> str:
        """Of the address of a page about this scope."""
        return urlencode({"scope": self.value})

    def words(self, servers: Mapping[int, str]) -> str:
        """For people."""
        if self.server_id is not None:
            return servers.get(self.server_id, f"server {self.server_id}")
        return "everything" if self.tag is None else f"tag {self.tag}"


def offered(servers: Mapping[int, str], tags: Sequence[str]) -> list[tuple[str, list[tuple[str, str]]]]:
    """The groups of a list to choose from: label, then value and words of each entry."""
    named = sorted((name, key) for key, name in servers.items())
    groups = [
        ("Tags", [(Scope(tag=tag).value, tag) for tag in sorted(tags)]),
        ("Servers", [(Scope(server_id=key).value, name) for name, key in named]),
    ]
    return [(label, entries) for label, entries in groups if entries]
