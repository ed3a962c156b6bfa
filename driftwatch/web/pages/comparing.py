"""Any two versions of a tool, part by part, with a verdict: a stored one, or one made on the spot in the sandbox."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from driftwatch.capture.snapshot import take
from driftwatch.classify.tool import Assessment
from driftwatch.history.views import ChangeView, FindingView
from driftwatch.web.pages import contract_diff, words
from driftwatch.web.pages.contract_diff import Comparison
from driftwatch.web.pages.definitions import PARTS, Definition
from driftwatch.web.pages.models import ToolHead
from driftwatch.web.pages.words import State
from driftwatch.wire.facts import Era

if TYPE_CHECKING:
    from driftwatch.app import Services

_SAYS: Final = {
    "output": "what the server writes and clients read",
    "input": "what clients write and the server reads",
    "text": "what people and models read about it",
    "annotations": "hints for approval",
    "meta": "everything else",
}


@dataclass(frozen=True, slots=True)
class Part:
    """One part of two versions. ``state`` is quiet ``same`` where nothing differs; ``note`` is small print.

    ``named``: what references lead to, as (name, what it is, its fields).
    """

    part: str
    says: str
    state: State
    comparison: Comparison
    note: str
    named: tuple[tuple[str, str, Comparison], ...] = ()


@dataclass(frozen=True, slots=True)
class _Verdict:
    verdict: str
    reason: str | None
    findings: tuple[FindingView, ...]


async def parts(
    services: Services, head: ToolHead, old: Definition, new: Definition, told: ChangeView | None, *, same: bool
) -> list[Part]:
    """The declared parts, changed ones first. ``told`` is the change between the two versions, where there was one."""
    if same or old.broken or new.broken:
        verdicts: Mapping[str, _Verdict] = {}
    elif told is not None and told.parts:
        verdicts = {part.part: _Verdict(part.verdict, part.reason, part.findings) for part in told.parts}
    else:
        verdicts = _of_assessment(await _assess(services, head, old, new))
    return _ordered(_part(name, old, new, verdicts.get(name)) for name in PARTS)


def plainly(one: Definition, other: Definition) -> list[Part]:
    """The declared parts of two definitions of which neither is the other's past: what differs, without a verdict."""
    return _ordered(_part(name, one, other, None) for name in PARTS)


async def _assess(services: Services, head: ToolHead, old: Definition, new: Definition) -> Assessment:
    era = Era(head.era)
    before, after = (next(iter(take([side.raw], era=era).tools.values()), None) for side in (old, new))
    return await services.sandbox.assess(before, after, era=era)


def _of_assessment(assessment: Assessment) -> dict[str, _Verdict]:
    return {
        str(part.part): _Verdict(
            part.verdict,
            part.reason,
            tuple(FindingView(f.rule, f.pointer, f.level, f.effect, f.message) for f in part.findings),
        )
        for part in assessment.parts
    }


def _part(name: str, old: Definition, new: Definition, verdict: _Verdict | None) -> Part | None:
    before, after = old.contract(name), new.contract(name)
    if before is None and after is None:
        return None
    comparison = contract_diff.compare(before, after, verdict.findings if verdict else ())
    changed = bool(verdict or comparison.changed)
    state = words.verdict(verdict.verdict) if verdict else State("compatible", "compatible", "same", quiet=True)
    if verdict is None and comparison.changed:
        state = State("note", "note", "differs")
    dialect = after.dialect if after else None
    named = tuple((word, found.root, contract_diff.plain(found)) for word, found in new.named(name))
    note = _note(name, dialect, declared=after is not None, changed=changed)
    return Part(name, _SAYS[name], state, comparison, note, named)


def _note(name: str, dialect: str | None, *, declared: bool, changed: bool) -> str:
    if name not in ("input", "output"):
        return ""
    if not declared:
        return "No longer declared."
    read = f"Read as JSON Schema {dialect}." if dialect else "Read as JSON Schema 2020-12, no $schema given."
    return read if changed else f"{read} Unchanged."


def _ordered(found: Iterable[Part | None]) -> list[Part]:
    order: Sequence[str] = ("output", "input", "text", "annotations", "meta")
    shown = [part for part in found if part is not None]
    return sorted(shown, key=lambda part: (part.state.quiet, order.index(part.part)))
