"""The same tool as two kinds of clients see it: one contract, one contract in the known wrapping, or two. Pure.

What the digests leave open is decided by :mod:`driftwatch.classify.eras`; this is how it is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from driftwatch.capture.model import ToolDefinition
from driftwatch.classify.eras import Equivalence
from driftwatch.history.views import ToolView
from driftwatch.web.pages import words
from driftwatch.web.pages.words import State

Sides = tuple[ToolDefinition, ToolDefinition]

Likeness = Literal["same", "words", "wrapped", "equivalent", "differs", "undecided", "one-sided"]

#: tools whose two definitions are loaded and compared; the rest is told apart by digests alone
MAX_COMPARED: Final = 60
#: sentences shown of what differs
MAX_SAID: Final = 3

_STATES: Final[Mapping[Likeness, State]] = {
    "same": State("compatible", "compatible", "same contract", quiet=True),
    "words": State("compatible", "compatible", "same contract, other words", quiet=True),
    "wrapped": State("compatible", "compatible", "same up to the known wrapping", quiet=True),
    "equivalent": State("compatible", "compatible", "same contract, written differently", quiet=True),
    "differs": State("undecided", "note", "really differs"),
    "undecided": State("undecided", "undecided", "not decided whether they differ"),
    "one-sided": State("undecided", "note", "seen by one kind only"),
}


@dataclass(frozen=True, slots=True)
class Pair:
    """A tool over both kinds of clients; ``sides``: (tool id, era, version) of each that has it now.

    ``said``: what a client that holds one contract would make of the other, in words.
    """

    name: str
    sides: tuple[tuple[int, str, int], ...]
    likeness: Likeness
    state: State
    parts: str
    said: tuple[str, ...] = ()

    @property
    def href(self) -> str:
        """Both definitions side by side."""
        first, *rest = [tool for tool, _, _ in self.sides]
        return f"/tools/{first}/against/{rest[0]}" if rest else f"/tools/{first}"


@dataclass(frozen=True, slots=True)
class Compared:
    """All tools that are not simply the same, and one sentence about all of them."""

    sentence: str
    pairs: tuple[Pair, ...]


def to_load(tools: Sequence[ToolView]) -> list[int]:
    """The versions whose definitions decide between wrapped and different."""
    doubtful = [group for group in groups(tools).values() if len(group) > 1 and _by_digest(group) == "differs"]
    return [tool.version_id for group in doubtful[:MAX_COMPARED] for tool in group if tool.version_id is not None]


def sides(tools: Sequence[ToolView], definitions: Mapping[int, ToolDefinition]) -> dict[str, Sides]:
    """The pairs of definitions that the classifier must be asked about, by tool: modern first."""
    found = {}
    for name, group in groups(tools).items():
        loaded = {tool.era: definitions.get(tool.version_id or 0) for tool in group}
        modern, legacy = loaded.get("modern"), loaded.get("legacy")
        if modern is not None and legacy is not None:
            found[name] = (modern, legacy)
    return found


def compare(tools: Sequence[ToolView], equivalences: Mapping[str, Equivalence], eras: Sequence[str]) -> Compared | None:
    """How alike the kinds of clients see this server; None when only one kind is watched.

    ``equivalences``: what the classifier said, by tool; without it only digests speak.
    """
    if len(set(eras)) < 2:
        return None
    pairs = [_pair(name, group, equivalences.get(name)) for name, group in groups(tools).items()]
    odd = tuple(pair for pair in pairs if pair.likeness != "same")
    return Compared(_sentence(pairs), odd)


def state_of(found: Equivalence | None) -> State:
    """How alike two definitions are; None: there was no answer in time."""
    return _STATES["undecided" if found is None else found.likeness]


def said_of(found: Equivalence | None) -> tuple[str, ...]:
    """What differs, in words: for whom, and what."""
    sentences: dict[str, None] = {}
    for difference in found.differences if found else ():
        for finding in difference.assessment.findings:
            if finding.level in ("breaking", "warning"):
                sentences.setdefault(f"to {words.clients(difference.holder)}, {finding.message}")
    return tuple(sentences)[:MAX_SAID]


def groups(tools: Sequence[ToolView]) -> dict[str, list[ToolView]]:
    """The tools that are listed now, by name."""
    found: dict[str, list[ToolView]] = {}
    for tool in tools:
        if tool.version is not None:
            found.setdefault(tool.name, []).append(tool)
    return found


def likeness(group: Sequence[ToolView], found: Equivalence | None) -> Likeness:
    """How alike the kinds of clients see one tool; ``found``: what the classifier said, where it was asked."""
    if len(group) < 2:
        return "one-sided"
    by_digest = _by_digest(group)
    return by_digest if by_digest != "differs" or found is None else found.likeness


def _pair(name: str, group: Sequence[ToolView], found: Equivalence | None) -> Pair:
    alike = likeness(group, found)
    shown = tuple((tool.id, tool.era, tool.version) for tool in group if tool.version is not None)
    parts = _parts(group) if len(group) > 1 else ""
    return Pair(name, shown, alike, _STATES[alike], parts, said_of(found))


def _by_digest(group: Sequence[ToolView]) -> Likeness:
    first, second = group[0], group[1]
    if first.part_shas == second.part_shas:
        return "same"
    return "words" if first.semantic_shas == second.semantic_shas else "differs"


def _parts(group: Sequence[ToolView]) -> str:
    first, second = group[0].part_shas, group[1].part_shas
    return ", ".join(sorted(part for part in {*first, *second} if first.get(part) != second.get(part)))


def _sentence(pairs: Sequence[Pair]) -> str:
    odd = [pair for pair in pairs if pair.likeness in ("differs", "undecided", "one-sided")]
    wrapped = sum(1 for pair in pairs if pair.likeness == "wrapped")
    if not pairs:
        return "Neither kind of client sees a tool."
    tail = f"; {words.count(wrapped, 'output')} in the known wrapping" if wrapped else ""
    if not odd:
        return f"Same contracts for both kinds of clients{tail}."
    return f"Same contracts for both kinds of clients but {len(odd)}: {words.listed([p.name for p in odd])}{tail}."
