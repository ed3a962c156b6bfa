"""A change told in five answers: what, does it break us, what to do. Pure; the announcement is told by announced.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from driftwatch.alerts import words as alert_words
from driftwatch.classify.clients import words as client_words
from driftwatch.history.views import ChangeView, PartView
from driftwatch.web.pages import contract_diff, refusals, witness, words
from driftwatch.web.pages.contract_diff import Comparison
from driftwatch.web.pages.definitions import PARTS, Definition

#: rules named beside the answer; every finding stands at its field
_MOST_RULES: Final = 3


@dataclass(frozen=True, slots=True)
class PartStory:
    """One part of a change: its verdict and what differs, line by line."""

    part: str
    state: words.State
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class Proof:
    """The second question answered. ``lines`` is the witness, empty when there is none."""

    sentence: str
    label: str = ""
    lines: tuple[witness.Line, ...] = ()
    answers: tuple[refusals.Answer, ...] = ()
    copy: str = ""
    note: str = ""


def headline(change: ChangeView) -> str:
    """The change in one sentence; names stand in backticks."""
    return alert_words.sentences(change)[0]


def rules(change: ChangeView) -> list[tuple[str, str]]:
    """The rules that name why, each with its JSON Pointer: those of the worst level in the part that decides."""
    deciding = next((part for part in change.parts if part.part == change.part), None)
    found = [] if deciding is None else [f for f in deciding.findings if f.level in ("breaking", "warning")]
    worst = [f for f in found if f.level == "breaking"] or found
    return list(dict.fromkeys((finding.rule, finding.pointer) for finding in worst))[:_MOST_RULES]


def others(change: ChangeView) -> int:
    """How many further sentences there are to tell."""
    return len(alert_words.sentences(change)) - 1


def versions(change: ChangeView) -> str:
    """``v3 → v4``; ``v4`` alone where the tool came or went."""
    known = [f"v{number}" for number in (change.from_version, change.to_version) if number is not None]
    return " → ".join(known)


@dataclass(frozen=True, slots=True)
class Rename:
    """A hint that a tool went under another name; ``change_id`` is the other change, where it is known."""

    sentence: str
    change_id: int | None

    @property
    def href(self) -> str:
        """The other change's page; empty where it is not known."""
        return f"/changes/{self.change_id}" if self.change_id else ""


def rename(change: ChangeView, siblings: Sequence[ChangeView]) -> Rename | None:
    """The rename hint stored with a tool that came or went: never a fact, and said so."""
    hint = change.facts.get("rename_hint")
    if not isinstance(hint, Mapping) or not isinstance(hint.get("tool"), str):
        return None
    score = hint.get("score")
    how = "its schemas are the same" if score == 1 else f"their descriptions are alike, score {score}"
    other = hint["tool"].replace("`", "’")
    named = f"now `{other}`" if change.kind == "removed" else f"what was `{other}` before"
    found = next((c for c in siblings if c.tool == hint["tool"] and c.era == change.era), None)
    return Rename(f"It may be {named}: {how}. A hint, not a fact.", found.id if found else None)


def todo(change: ChangeView, line: str | None, owner: str | None) -> str | None:
    """What to do, by the policy line that made it an alert; None when nobody was alerted."""
    return None if line is None else alert_words.do(change, line, owner)


def parts(change: ChangeView, old: Definition | None, new: Definition | None) -> tuple[PartStory, ...]:
    """What differs in each changed part, the worst part first. A tool that came or went is told as a whole."""
    if change.kind != "changed":
        return ()
    told = []
    for part in sorted(
        change.parts, key=lambda p: (p.part != change.part, PARTS.index(p.part) if p.part in PARTS else 9)
    ):
        comparison = contract_diff.compare(
            old.contract(part.part) if old else None, new.contract(part.part) if new else None, part.findings
        )
        told.append(PartStory(part.part, words.verdict(part.verdict, part.via), contract_diff.changed_only(comparison)))
    return tuple(told)


def whole(change: ChangeView, old: Definition | None, new: Definition | None) -> tuple[tuple[str, Comparison], ...]:
    """The contract of a tool that came or went: its input and output as they are, or were."""
    definition = new or old
    if change.kind == "changed" or definition is None:
        return ()
    found = [(part, definition.contract(part)) for part in ("input", "output", "text")]
    return tuple((part, contract_diff.plain(contract)) for part, contract in found if contract is not None)


def summary(change: ChangeView) -> str:
    """Which parts changed and which did not: ``3 findings in the output. Input, text: unchanged.`` or the like."""
    if change.kind != "changed":
        return "The tool as a whole: its name, both schemas and its text."
    told = [
        f"{words.count(len(part.findings), 'finding')} in the {part.part}"
        if part.findings
        else f"the {part.part} differs"
        for part in change.parts
    ]
    if not told:
        return "Being checked."
    changed = {part.part for part in change.parts}
    same = [part for part in PARTS if part not in changed]
    unchanged = f" {', '.join(same).capitalize()}: unchanged." if same else ""
    return f"{', '.join(told)}.{unchanged}"


def proof(change: ChangeView) -> Proof:
    """Does it break a client that still holds the old contract, and what shows it."""
    part = change.worst
    if change.verdict is None:
        return Proof("Not known yet: the two contracts are being compared.")
    if change.kind == "removed":
        return Proof(f"Yes. A client that still lists `{change.tool}` calls a tool that is not there.")
    if change.kind in ("added", "restored"):
        return Proof(
            "No. Clients that hold the old list do not know the tool." if change.verdict != "invalid" else _INVALID
        )
    if change.verdict == "compatible":
        return Proof(_compatible(change))
    if change.verdict == "undecided":
        return Proof(f"We cannot say: {_reason(part)}. It is treated as breaking until a person accepts it.")
    if change.verdict == "invalid":
        return Proof(_INVALID)
    return _breaking(change, part)


_ANY_CLIENT: Final = "A client that holds {old} refuses that."
_INVALID: Final = "Yes. Clients built on the official SDKs refuse this definition, whatever they held before."


def _compatible(change: ChangeView) -> str:
    semantic = [part for part in change.parts if part.part in ("input", "output")]
    if not semantic:
        return "No. Only words and hints changed; no value is accepted or refused that was not before."
    if any(part.part == "output" for part in semantic):
        return "No. Every result that the new contract allows was allowed by the old one: proved, not guessed."
    return "No. Every call that the old contract allowed is still allowed: proved, not guessed."


def _breaking(change: ChangeView, part: PartView | None) -> Proof:
    writes = part is not None and part.part == "input"
    old, new = _held(change.from_version), _held(change.to_version)
    what = (
        f"Yes. Here are arguments that {old} allows. The server now refuses them."
        if writes
        else f"Yes. Here is a result the server may now return. A client that holds {old} refuses it."
    )
    if part is None or not part.witness:
        return Proof(what)
    if part.via == "undeclared-key":
        what = f"Strictly, yes: {what.removeprefix('Yes. ')} It takes a key that nobody had declared, so it is rare."
    details = part.clients or {}
    asked = client_words.speaking(details.get("answers") or (), change.era)
    told = client_words.sentence(asked, old)
    validators = _answers(writes, old, new, details) + refusals.lines(asked)
    if part.witness.get("absent"):
        return Proof(
            f"Yes. The server may now answer without structuredContent. {told or _ANY_CLIENT.format(old=old)}",
            label="witness: no structuredContent",
            answers=validators,
        )
    value = part.witness.get("value")
    return Proof(
        f"{what} {told}".rstrip(),
        label="witness",
        lines=witness.lines(value, _text(details.get("refused_at")), _text(details.get("refusal"))),
        answers=validators,
        copy=witness.as_text(value),
        note="A small value that proves it; real ones carry more.",
    )


def _answers(writes: bool, old: str, new: str, details: Mapping[str, Any]) -> tuple[refusals.Answer, ...]:
    allowing, refusing = (old, new) if writes else (new, old)
    return (
        refusals.Answer(words.State("compatible", "compatible", "allowed"), f"under {allowing}", ""),
        refusals.Answer(
            words.State("breaking", "breaking", "refused"), f"under {refusing}", _text(details.get("refusal")) or ""
        ),
    )


def _held(number: int | None) -> str:
    return "the contract" if number is None else f"v{number}"


def _text(item: Any) -> str | None:
    return item if isinstance(item, str) else None


def _reason(part: PartView | None) -> str:
    reason = part.reason if part else None
    if reason and reason.startswith("budget"):
        return "comparing the two contracts took more time or memory than it may"
    return reason or "it could not be proved either way"


def tool_names(changes: Sequence[ChangeView]) -> list[str]:
    """The distinct tool names of a changeset, in order."""
    return list(dict.fromkeys(change.tool for change in changes))
