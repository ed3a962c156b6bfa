"""What a first look found, in words. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from driftwatch.capture.model import ConformanceFinding
from driftwatch.servers.model import FoundEra, Preview
from driftwatch.web.pages import words
from driftwatch.web.pages.words import State

MAX_TOOLS: Final = 200
MAX_FINDINGS: Final = 40


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of client: what it is called, whether changes can be announced to it, and what follows."""

    clients: str
    declares: State
    so: str
    tools: int


@dataclass(frozen=True, slots=True)
class Note:
    """A finding that is no change. ``rule`` is its id."""

    state: State
    message: str
    where: str
    rule: str


@dataclass(frozen=True, slots=True)
class Found:
    """Everything the second step shows."""

    kinds: tuple[Kind, ...]
    tools: tuple[str, ...]
    more_tools: int
    outputs: int
    notes: tuple[Note, ...]
    problems: tuple[tuple[str, str], ...]
    server: str


def tell(preview: Preview) -> Found:
    """Word what was found; the kind of client that sees most tools speaks for the tools."""
    widest = max(preview.found, key=lambda era: len(era.tools), default=None)
    names = [tool.name for tool in widest.tools] if widest else []
    return Found(
        kinds=tuple(_kind(era) for era in preview.found),
        tools=tuple(names[:MAX_TOOLS]),
        more_tools=max(len(names) - MAX_TOOLS, 0),
        outputs=widest.outputs_declared if widest else 0,
        notes=tuple(_notes(preview.found))[:MAX_FINDINGS],
        problems=tuple((words.clients(era), problem.message) for era, problem in preview.problems.items()),
        server=_server(widest),
    )


def note(finding: ConformanceFinding) -> Note:
    """A conformance finding as lists show it."""
    hidden = finding.rule == "hidden-characters"
    volatile = finding.rule == "volatile"
    state = (
        State("undecided", "undecided", "volatile")
        if volatile
        else State("note", "note", "hidden text" if hidden else "note")
    )
    return Note(state, finding.message, finding.pointer, finding.rule)


def _kind(era: FoundEra) -> Kind:
    declares = State("compatible", "compatible", "yes") if era.list_changed_declared else State("note", "note", "no")
    so = (
        "announced, or silent where our stream heard nothing"
        if era.list_changed_declared
        else "silent: not declared, clients cannot hear of it"
    )
    return Kind(words.clients(era.era), declares, so, len(era.tools))


def _notes(eras: Sequence[FoundEra]) -> list[Note]:
    seen: dict[tuple[str, str], Note] = {}
    for era in eras:
        for tool in era.tools:
            if tool.invalid:
                invalid = Note(
                    State("invalid", "invalid", "invalid"), f"`{tool.name}`: {tool.invalid}", "", "invalid-definition"
                )
                seen.setdefault((tool.name, "invalid"), invalid)
        for finding in era.findings:
            seen.setdefault((finding.message, finding.rule), note(finding))
    return list(seen.values())


def _server(era: FoundEra | None) -> str:
    info = era.server_info if era else None
    if not info:
        return "does not name itself"
    return " ".join(str(info[key])[:100] for key in ("name", "version") if key in info)
