"""``assess``: what a change of one tool means for clients, part by part, and the worst of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from driftwatch.capture.digest import parts as parts_of
from driftwatch.capture.model import Part, ToolDefinition
from driftwatch.classify import clients, paths
from driftwatch.classify.clients import PythonClient, reading
from driftwatch.classify.compare import classify, of_sides
from driftwatch.classify.dialect import Schema
from driftwatch.classify.findings import hints, presence
from driftwatch.classify.shelf import Shelf
from driftwatch.classify.verdict import (
    DEFAULT_POLICY,
    SEVERITY,
    Direction,
    Finding,
    Outcome,
    Policy,
    Root,
    Verdict,
    Via,
)
from driftwatch.errors import CaptureError
from driftwatch.wire.facts import Era

_DIRECTIONS: Final[Mapping[Part, Direction]] = {Part.OUTPUT: "output", Part.INPUT: "input"}
#: ties: the output decides what a change is known for
_ORDER: Final = (Part.OUTPUT, Part.INPUT, Part.PRESENCE, Part.ANNOTATIONS, Part.TEXT, Part.META)


@dataclass(frozen=True, slots=True)
class PartAssessment:
    """One part's verdict. ``witness``: {"value": …} | {"absent": True} | None.

    ``clients``: the refusing validator's words (``refusal``) and where in the witness (``refused_at``); for a breaking
    output also ``answers``: what each client that holds the old schema does with the witness, each as the fields of
    :class:`driftwatch.classify.clients.ClientAnswer`.
    """

    part: Part
    verdict: Outcome
    via: Via | None = None
    reason: str | None = None
    witness: Mapping[str, Any] | None = None
    findings: tuple[Finding, ...] = ()
    paths: tuple[Mapping[str, Any], ...] = ()
    clients: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Assessment:
    """A change as a whole: its parts, and the worst part's verdict and via."""

    parts: tuple[PartAssessment, ...]
    verdict: Outcome
    via: Via | None
    part: Part | None


@dataclass(frozen=True, slots=True)
class _How:
    """How the parts of one transition are assessed."""

    era: Era
    policy: Policy
    python: PythonClient | None
    shelf: Shelf

    def root(self, part: Part) -> Root:
        """Which values of a part are instances."""
        return "any" if part is Part.OUTPUT and self.era is Era.MODERN else "object"

    def classified(self, schemas: tuple[Any, Any], shas: tuple[str | None, str | None], part: Part) -> Verdict:
        """The verdict about two schemas with these digests; what was decided is kept for the next question."""
        root = self.root(part)
        old, new = (self.shelf.read(schema, sha, root, self.policy) for schema, sha in zip(schemas, shas, strict=True))
        verdict = of_sides(old, new, _DIRECTIONS[part], self.policy)
        if verdict.outcome in ("compatible", "breaking"):
            self.shelf.keep(old, shas[0], root, self.policy)
            self.shelf.keep(new, shas[1], root, self.policy)
        return verdict


def assess(
    old: ToolDefinition | None,
    new: ToolDefinition | None,
    *,
    era: Era,
    policy: Policy = DEFAULT_POLICY,
    python: PythonClient | None = None,
    shelf: Shelf | None = None,
) -> Assessment:
    """What the transition from ``old`` to ``new`` means (None: the tool was not, or is no longer, listed).

    Arguments are always objects; results are objects in the legacy era and any JSON value in the modern one. Only the
    parts that changed appear. A definition that client SDKs refuse is ``invalid`` if the old one was usable. Without
    ``python``, the Python SDK under a limit, it is not asked what it does with the witness. ``shelf``: schemas read for
    earlier questions.
    """
    if old is None or new is None:
        return worst((_presence(old, new, era),))
    found = [_validity(old, new)] if (old.invalid is None) != (new.invalid is None) else []
    how = _How(era, policy, python, Shelf() if shelf is None else shelf)
    if old.invalid is None or new.invalid is None:
        before, after = _parts(old), _parts(new)
        judged = {assessment.part for assessment in found}
        changed = [part for part in Part if old.part_shas.get(part) != new.part_shas.get(part) and part not in judged]
        for part in changed:
            judging = _part(part, before.get(part), after.get(part), old, new, how)
            usable = old.invalid is None and new.invalid is None
            sides = before.get(part), after.get(part)
            if usable:
                judging = _usable(_with_clients(judging, *sides, how.root(part), era, python), *sides, era)
            found.append(judging)
    elif old.sha256 != new.sha256:
        found.append(PartAssessment(Part.META, "compatible", reason="was-invalid"))
    return worst(tuple(found))


def assess_schemas(
    old: Schema | None,
    new: Schema | None,
    *,
    directions: Sequence[Direction],
    root: Root,
    era: Era,
    python: PythonClient | None = None,
) -> Assessment:
    """What the difference of two bare schemas means, as the output and the input of a tool.

    ``root``: which results are instances; arguments are always objects. ``era``: how results travel to clients. Only
    values count for the verdict: what clients demand of a whole definition is no more than a warning here.
    """
    found = []
    for direction in directions:
        verdict = classify(old, new, direction=direction, root=root if direction == "output" else "object")
        part = Part.OUTPUT if direction == "output" else Part.INPUT
        found.append(_warned(_with_clients(of_verdict(part, verdict), old, new, root, era, python), old, new, era))
    return worst(tuple(found))


def _with_clients(
    judged: PartAssessment, old: Schema | None, new: Schema | None, root: Root, era: Era, python: PythonClient | None
) -> PartAssessment:
    """The output with what each client that holds ``old`` does with its witness, and what only some clients notice."""
    if judged.part is not Part.OUTPUT or judged.verdict == "invalid":
        return judged
    noticed = reading.refused(old, new, root, era) if judged.verdict == "compatible" else ()
    judged = replace(judged, findings=judged.findings + noticed)
    if judged.verdict == "breaking" and judged.witness is not None and old is not None:
        found = clients.answers(old, clients.of_witness(judged.witness), era=era, python=python)
        judged = replace(judged, clients={**(judged.clients or {}), "answers": [asdict(answer) for answer in found]})
    return judged


def _usable(judged: PartAssessment, old: Schema | None, new: Schema | None, era: Era) -> PartAssessment:
    """The output, invalid where an official client can no longer use the tool, whatever values are accepted."""
    if judged.part is not Part.OUTPUT or judged.verdict == "invalid":
        return judged
    lost = reading.lost(old, new, era)
    if not lost:
        return judged
    said = tuple(each.finding for each in lost)
    return replace(judged, verdict="invalid", via=None, reason=_lost(lost), findings=said + judged.findings)


def _warned(judged: PartAssessment, old: Schema | None, new: Schema | None, era: Era) -> PartAssessment:
    """The output with a warning where it would make a definition invalid, if it is a whole one."""
    lost = reading.lost(old, new, era) if judged.part is Part.OUTPUT else ()
    return replace(judged, findings=judged.findings + tuple(replace(each.finding, level="warning") for each in lost))


def _lost(found: Sequence[reading.Lost]) -> str:
    return "list-lost" if any(each.scope == "list" for each in found) else "tool-lost"


def over_budget(old: ToolDefinition | None, new: ToolDefinition | None, reason: str) -> Assessment:
    """The answer where the classifier was stopped: every changed schema part is undecided, ``reason`` says why."""
    if old is None or new is None:
        return worst((_presence(old, new, None),))
    changed = [part for part in _DIRECTIONS if old.part_shas.get(part) != new.part_shas.get(part)]
    return worst(tuple(PartAssessment(part, "undecided", reason=reason) for part in changed or (Part.META,)))


def schemas_over_budget(directions: Sequence[Direction], reason: str) -> Assessment:
    """The answer about bare schemas where the classifier was stopped."""
    parts = (Part.OUTPUT if direction == "output" else Part.INPUT for direction in directions)
    return worst(tuple(PartAssessment(part, "undecided", reason=reason) for part in parts))


def _parts(definition: ToolDefinition) -> dict[Part, Any]:
    try:
        parsed = definition.parsed()
    except CaptureError:
        return {}
    return parts_of(parsed) if isinstance(parsed, dict) else {}


def _presence(old: ToolDefinition | None, new: ToolDefinition | None, era: Era | None) -> PartAssessment:
    """The answer for a tool that came or went; ``era`` None: its schemas may not be looked at."""
    if old is None and new is not None:
        if new.invalid is not None:
            # Nobody held the tool before, but a refused definition may take the whole list with it.
            return PartAssessment(
                Part.PRESENCE,
                "invalid" if new.invalid.scope == "list" else "compatible",
                reason=new.invalid.code,
                findings=presence.tool_added(new.name) + presence.refused(new.name, new.invalid.message),
            )
        lost = () if era is None else reading.lost(None, _parts(new).get(Part.OUTPUT), era)
        return PartAssessment(
            Part.PRESENCE,
            "invalid" if any(each.scope == "list" for each in lost) else "compatible",
            reason=_lost(lost) if lost else "tool-added",
            findings=(*presence.tool_added(new.name), *(each.finding for each in lost)),
        )
    if old is not None and new is None:
        return PartAssessment(
            Part.PRESENCE, "breaking", "declared", "tool-removed", findings=presence.tool_removed(old.name)
        )
    raise ValueError("a transition needs a definition on one side at least")


def _validity(old: ToolDefinition, new: ToolDefinition) -> PartAssessment:
    """The answer for the part that made a definition unusable, or usable again."""
    problem = new.invalid or old.invalid
    part = next((part for part in _DIRECTIONS if problem and problem.code.startswith(f"{part}-")), Part.PRESENCE)
    changed = paths.changed(_parts(old).get(part), _parts(new).get(part)) if part is not Part.PRESENCE else ()
    if new.invalid is None:
        return PartAssessment(part, "compatible", reason="repaired", paths=changed)
    said = presence.refused(new.name, new.invalid.message)
    return PartAssessment(part, "invalid", reason=new.invalid.code, findings=said, paths=changed)


def _part(part: Part, before: Any, after: Any, old: ToolDefinition, new: ToolDefinition, how: _How) -> PartAssessment:
    changed = paths.changed(before, after)
    if part not in _DIRECTIONS:
        return PartAssessment(part, "compatible", findings=hints.of_words(part, before, after), paths=changed)
    if old.invalid is not None or new.invalid is not None:
        # Another part says what matters; two halves of a refused definition prove nothing to anybody.
        return PartAssessment(part, "compatible", reason="was-invalid" if old.invalid else "refused", paths=changed)
    shas = old.part_shas.get(part), new.part_shas.get(part)
    return of_verdict(part, how.classified((before, after), shas, part), changed)


def of_verdict(part: Part, verdict: Verdict, changed: tuple[Mapping[str, Any], ...] = ()) -> PartAssessment:
    """A schema verdict as the assessment of a part."""
    witness: Mapping[str, Any] | None = None
    if verdict.has_witness:
        witness = {"value": verdict.witness}
    elif verdict.witness_absent:
        witness = {"absent": True}
    said = {"refusal": verdict.refusal, "refused_at": verdict.refused_at} if verdict.refusal is not None else None
    return PartAssessment(part, verdict.outcome, verdict.via, verdict.reason, witness, verdict.findings, changed, said)


def worst(found: tuple[PartAssessment, ...]) -> Assessment:
    """The parts as one change, known for its worst part."""
    if not found:
        return Assessment((), "compatible", None, None)
    worst = max(found, key=lambda part: (SEVERITY[part.verdict], -_ORDER.index(part.part)))
    return Assessment(found, worst.verdict, worst.via, worst.part)
