"""Findings for a pair of schemas: drafts of every rule at every pair of positions, graded against local proofs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from driftwatch.classify import via
from driftwatch.classify.decide import Proof, glance
from driftwatch.classify.dialect import Dialect, Schema
from driftwatch.classify.findings import (
    bounds,
    dialects,
    enums,
    objects,
    patterns,
    properties,
    references,
    types,
    unions,
    wording,
)
from driftwatch.classify.findings.rule import Draft, Local, Rule, name, words
from driftwatch.classify.findings.walk import Spot, spots
from driftwatch.classify.reading import Reading
from driftwatch.classify.verdict import Finding, Level, Policy, Verdict

_FAMILIES: Final[tuple[Callable[[Spot], Iterator[Draft]], ...]] = (
    *(types.check, enums.check, properties.check, objects.check, bounds.check, patterns.check, unions.check),
    *(references.check, dialects.check, wording.check),
)
_MOST: Final = 100
_LOCAL_PROOFS: Final = 16
_LEVELS: Final = ("breaking", "warning", "info", "annotation")


def explain(
    old: Schema, new: Schema, verdict: Verdict, dialects_: tuple[Dialect, Dialect], policy: Policy
) -> tuple[Finding, ...]:
    """What changed from ``old`` to ``new`` in words, worst first; levels never contradict ``verdict``."""
    grader = _Grader(verdict, dialects_, policy)
    drafts = [draft for spot in spots(old, new, dialects_, verdict.direction) for draft in _drafts(spot)]
    graded = [grader.grade(draft) for draft in _unique(drafts)[:_MOST]]
    if verdict.outcome == "breaking" and not any(finding.level in ("breaking", "warning") for finding in graded):
        graded.append(_unnamed(verdict))
    if verdict.outcome == "compatible" and all(finding.level == "annotation" for finding in graded):
        # The meaning changed too, where no rule has a name for it: then the words are news.
        graded = [replace(finding, level="info") for finding in graded]
    return tuple(sorted(graded, key=lambda finding: _LEVELS.index(finding.level)))


def annotation_findings(
    old: Schema, new: Schema, verdict: Verdict, dialects_: tuple[Dialect, Dialect]
) -> tuple[Finding, ...]:
    """Findings for a pair that accepts the same values, formats aside."""
    families = (references.check, dialects.check, wording.check, patterns.check)
    drafts = [
        draft for spot in spots(old, new, dialects_, verdict.direction) for family in families for draft in family(spot)
    ]
    return tuple(_finding(draft, _annotation_level(draft, verdict)) for draft in _unique(drafts)[:_MOST])


def _drafts(spot: Spot) -> Iterator[Draft]:
    for family in _FAMILIES:
        yield from family(spot)


def _unique(drafts: list[Draft]) -> list[Draft]:
    return list({(draft.rule.id, draft.pointer, draft.message): draft for draft in drafts}.values())


def _annotation_level(draft: Draft, verdict: Verdict) -> Level:
    if wording.telling(draft):
        return "warning"
    if draft.rule.level == "breaking" or draft.rule is references.RETARGETED:
        # The same values in another spelling.
        return "annotation"
    return _level(draft, verdict)


def _level(draft: Draft, verdict: Verdict) -> Level:
    """The level of a rule that no proof grades: a format that refuses nothing even if it is asserted is news."""
    if draft.rule is patterns.FORMAT and verdict.outcome == "compatible" and not verdict.needs_format_assertion:
        return "info"
    return draft.rule.level


def _finding(draft: Draft, level: Level, witness: Any = None, *, proved: bool = False) -> Finding:
    rule = draft.rule
    return Finding(rule.id, draft.pointer, level, rule.effect, draft.message, witness, proved)


def _unnamed(verdict: Verdict) -> Finding:
    """A break that no rule names: the witness says where."""
    rule: Rule = types.WIDENED if verdict.direction == "output" else types.NARROWED
    at = [token.replace("~1", "/").replace("~0", "~") for token in (verdict.refused_at or "").split("/")[1:]]
    whole = "results" if verdict.direction == "output" else "arguments"
    subject = name(".".join(at)) if at else whole
    said = (
        "may now hold values that were refused"
        if verdict.direction == "output"
        else "no longer takes every value it took"
    )
    example = f", such as {words(verdict.witness)}" if not at else ""
    return Finding(rule.id, "", "breaking", rule.effect, f"{subject} {said}{example}")


class _Grader:
    """Gives each draft its level: the rule's, unless a proof on the local pair says it is harmless."""

    def __init__(self, verdict: Verdict, dialects_: tuple[Dialect, Dialect], policy: Policy) -> None:
        self.verdict = verdict
        self.dialects = dialects_
        self.policy = Policy(formats=policy.formats, max_steps=200, max_seconds=0.05)
        self.left = _LOCAL_PROOFS

    def grade(self, draft: Draft) -> Finding:
        if draft.rule.level != "breaking":
            return _finding(draft, "warning" if wording.telling(draft) else _level(draft, self.verdict))
        if self.verdict.outcome == "compatible":
            return _finding(draft, "info")
        sides = None if draft.local is None or self.left == 0 else self._sides(draft.local())
        proof = self._proof(sides)
        if sides is None or proof is None or proof.answer == "unknown":
            return _finding(draft, self._unproved())
        if proof.answer == "yes":
            return _finding(draft, "info")
        declared = self.verdict.via in (None, "declared") and _declared(sides[0], proof.witness)
        level: Level = "breaking" if declared else "warning"
        return _finding(draft, level, proof.witness, proved=True)

    def _unproved(self) -> Level:
        if self.verdict.outcome == "breaking" and self.verdict.via == "declared":
            return "breaking"
        return "warning"

    def _proof(self, sides: tuple[Reading, Reading] | None) -> Proof | None:
        if sides is None:
            return None
        self.left -= 1
        return glance(*sides)

    def _sides(self, local: Local | None) -> tuple[Reading, Reading] | None:
        """The local pair as (writer, reader)."""
        if local is None:
            return None
        old, new = (
            Reading(schema, dialect, "any", self.policy)
            for schema, dialect in zip((local.old, local.new), self.dialects, strict=True)
        )
        return (new, old) if self.verdict.direction == "output" else (old, new)


def _declared(writer: Reading, witness: Any) -> bool:
    return writer.normal is None or via.via(writer.normal, witness) == "declared"
