"""What each client says to the witness, line by line. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from driftwatch.classify.clients.words import Said, listed
from driftwatch.web.pages import words

_STATES: Final[Mapping[Any, words.State]] = {
    True: words.State("breaking", "breaking", "refused"),
    False: words.State("compatible", "compatible", "accepted"),
    "tool-lost": words.State("invalid", "invalid", "tool lost"),
    "list-lost": words.State("invalid", "invalid", "list lost"),
    "unknown": words.State("unknown", "unknown", "not known"),
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What one validator or client says to the witness."""

    state: words.State
    who: str
    says: str


def lines(found: Said) -> tuple[Answer, ...]:
    """The SDKs' answers; those that say the same share a line."""
    shared: dict[tuple[Any, str], list[str]] = {}
    for answer in found:
        if answer["client"] != "spec":
            shared.setdefault((answer["refuses"], answer["message"]), []).append(answer["client"])
    return tuple(
        Answer(_STATES.get(refuses, _STATES["unknown"]), listed(clients), message)
        for (refuses, message), clients in shared.items()
    )
