"""Clients' answers as a sentence, for pages, the terminal and messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

_TYPESCRIPT: Final = {"ts1": "1.x", "ts2": "2.x"}

Said = Sequence[Mapping[str, Any]]


def sentence(answers: Said, held: str) -> str:
    """``Refused by TypeScript SDK 1.x and 2.x and the Python SDK, holding v3.``; empty where no SDK was asked."""
    refusing = [answer["client"] for answer in answers if answer["refuses"] not in (False, "unknown")]
    accepting = [answer["client"] for answer in answers if answer["refuses"] is False]
    if listed(refusing):
        but = f"; accepted by {listed(accepting)}" if listed(accepting) else ""
        return f"Refused by {listed(refusing)}, holding {held}{but}."
    return f"The official SDKs let it pass: {listed(accepting)}." if listed(accepting) else ""


def speaking(answers: Said, era: str) -> list[Mapping[str, Any]]:
    """The answers of clients that see a profile of this era: TypeScript SDK 1.x speaks the legacy protocol only."""
    return [answer for answer in answers if era != "modern" or answer["client"] != "ts1"]


def listed(clients: Iterable[str]) -> str:
    """SDKs by name; the specification is no client anybody runs, and is left out."""
    clients = list(clients)
    generations = [_TYPESCRIPT[client] for client in clients if client in _TYPESCRIPT]
    named = [f"TypeScript SDK {' and '.join(generations)}"] if generations else []
    return " and ".join([*named, *(["the Python SDK"] if "py" in clients else [])])
