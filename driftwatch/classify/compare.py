"""``classify``: whether a change breaks a client that still holds the old schema."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from driftwatch.classify import decide, dialect, exact, invalid, via
from driftwatch.classify.dialect import Dialect, Schema
from driftwatch.classify.findings import presence
from driftwatch.classify.findings.explain import annotation_findings, explain
from driftwatch.classify.gate import GateError
from driftwatch.classify.reading import Reading, equal
from driftwatch.classify.side import Side, read
from driftwatch.classify.verdict import DEFAULT_POLICY, Direction, Policy, Root, Verdict, Via
from driftwatch.classify.witness.formats import dressed
from driftwatch.classify.witness.shrink import shrink


def classify(
    old: Schema | None,
    new: Schema | None,
    *,
    direction: Direction,
    root: Root = "any",
    old_dialect: str | None = None,
    new_dialect: str | None = None,
    policy: Policy = DEFAULT_POLICY,
) -> Verdict:
    """What a client that holds ``old`` has to fear from ``new``.

    ``direction`` "output": breaking iff ``new`` accepts a result that ``old`` refuses. "input": breaking iff ``old``
    accepts arguments that ``new`` refuses. ``None`` is an absent schema and accepts everything; for outputs also the
    absence of a result, which a declared schema refuses. ``root`` "object": only objects are instances (tool arguments,
    legacy results). Dialects: names ("draft-07") or URIs; by default each schema's ``$schema``, else 2020-12.

    Never raises for what a schema contains: what cannot be decided is ``undecided`` with a reason.
    """
    return of_sides(read(old, old_dialect, root, policy), read(new, new_dialect, root, policy), direction, policy)


def of_sides(old: Side, new: Side, direction: Direction, policy: Policy = DEFAULT_POLICY) -> Verdict:
    """Like :func:`classify`, for schemas that were read before, both for one root and this policy."""
    try:
        verdict = _judge((old, new), direction, policy)
    except (RecursionError, MemoryError) as error:
        verdict = Verdict("undecided", direction, reason=f"budget: {type(error).__name__}")
    return replace(verdict, dialects=(old.dialect, new.dialect))


def _judge(sides: tuple[Side, Side], direction: Direction, policy: Policy) -> Verdict:
    early = _unusable(sides, direction) or _absent(sides, direction) or _unread(sides, direction)
    if early is not None:
        return early
    mine, yours = sides
    if mine.reading is None or yours.reading is None:
        raise AssertionError("what cannot be read was answered before")
    if not _same(mine.reading, yours.reading):
        verdict = _decided(mine.reading, yours.reading, direction)
        if verdict.outcome != "compatible" or not equal(mine.reading, yours.reading):
            return replace(verdict, findings=explain(mine.schema, yours.schema, verdict, _dialects(sides), policy))
    return _reworded(mine.reading, yours.reading, direction)


def _reworded(mine: Reading, yours: Reading, direction: Direction) -> Verdict:
    """The verdict where both documents stand for the same values."""
    asserted = _breaks_if_formats_count(mine, yours, direction)
    verdict = Verdict("compatible", direction, needs_format_assertion=asserted)
    notes = annotation_findings(mine.schema, yours.schema, verdict, (mine.dialect, yours.dialect))
    return replace(verdict, reason="annotations-only" if notes else "same-meaning", findings=notes)


def _same(left: Reading, right: Reading) -> bool:
    """Whether two documents say the same in the same words: nothing is left to prove."""
    if left.normal is None or right.normal is None or left.dialect != right.dialect:
        return False
    return exact.same(left.normal.body, right.normal.body)


def _dialects(sides: tuple[Side, Side]) -> tuple[Dialect, Dialect]:
    return sides[0].dialect or dialect.DEFAULT, sides[1].dialect or dialect.DEFAULT


def _unusable(sides: tuple[Side, Side], direction: Direction) -> Verdict | None:
    """The answer where client SDKs refuse a definition. An old one nobody could use cannot be broken."""
    old, new = (side.problem for side in sides)
    if new is not None and (old is None or not _identical(sides)):
        return Verdict(
            "invalid",
            direction,
            reason=invalid.REASON,
            pointer=new.pointer,
            side="new",
            details={"message": new.message},
            findings=presence.invalid_definition(new.message, new.pointer),
        )
    if old is not None:
        reason = "repaired" if new is None else "unchanged"
        return Verdict("compatible", direction, reason=reason, side="old", details={"message": old.message})
    return None


def _identical(sides: tuple[Side, Side]) -> bool:
    return exact.same(sides[0].schema, sides[1].schema) and sides[0].dialect == sides[1].dialect


def _absent(sides: tuple[Side, Side], direction: Direction) -> Verdict | None:
    old, new = sides
    if direction == "input" or old.absent == new.absent:
        return None
    if old.absent:
        return Verdict("compatible", direction, reason="schema-added", findings=presence.output_schema_added())
    return Verdict(
        "breaking",
        direction,
        witness_absent=True,
        via="declared",
        reason="schema-removed",
        refusal="no structuredContent, but the old schema asks for it",
        findings=presence.output_schema_removed(),
    )


def _unread(sides: tuple[Side, Side], direction: Direction) -> Verdict | None:
    for name, side in zip(("old", "new"), sides, strict=True):
        if side.limit is not None:
            return Verdict("undecided", direction, reason=side.limit, side=name)
    if all(side.dialect is not None for side in sides) or _identical(sides):
        return None if all(side.dialect is not None for side in sides) else Verdict("compatible", direction)
    name = "old" if sides[0].dialect is None else "new"
    return Verdict("undecided", direction, reason="unknown-dialect", pointer="/$schema", side=name)


def _breaks_if_formats_count(mine: Reading, yours: Reading, direction: Direction) -> bool:
    """Whether a change that breaks nobody breaks clients that assert formats, shown by a value."""
    if mine.policy.formats or _formats(mine.schema) == _formats(yours.schema):
        return False
    policy = replace(mine.policy, formats=True)
    old, new = (Reading(side.schema, side.dialect, side.root, policy) for side in (mine, yours))
    return decide.contains(*_ordered(old, new, direction)).answer == "no"


def _formats(schema: Schema) -> list[str]:
    """Every format a document mentions."""
    found: list[str] = []
    todo: list[Any] = [schema]
    while todo:
        node = todo.pop()
        if isinstance(node, dict):
            if isinstance(node.get("format"), str):
                found.append(node["format"])
            todo.extend(node.values())
        elif isinstance(node, list):
            todo.extend(node)
    return sorted(found)


def _ordered(mine: Reading, yours: Reading, direction: Direction) -> tuple[Reading, Reading]:
    """Who writes and who reads."""
    return (yours, mine) if direction == "output" else (mine, yours)


def _decided(mine: Reading, yours: Reading, direction: Direction) -> Verdict:
    writer, reader = _ordered(mine, yours, direction)
    proof = decide.contains(writer, reader)
    if proof.answer == "yes":
        asserted = _breaks_if_formats_count(mine, yours, direction)
        return Verdict("compatible", direction, needs_format_assertion=asserted)
    if proof.answer == "unknown":
        return Verdict("undecided", direction, reason=proof.reason, pointer=proof.pointer)
    return _witnessed(proof.witness, writer, reader, direction)


def _witnessed(witness: Any, writer: Reading, reader: Reading, direction: Direction) -> Verdict:
    """A break, once the validators confirm it on the documents as written; the witness shrunk, its kind kept."""
    try:
        accepting, refusing = writer.gate, reader.gate
    except GateError as error:
        return Verdict("undecided", direction, reason=f"unsupported: {error}")
    if not (refusing.refuses(witness) and accepting.accepts(witness)):
        return Verdict("undecided", direction, reason="disagreement: the witness was not confirmed")
    kind = _via(writer, witness)

    def holds(value: Any) -> bool:
        return refusing.refuses(value) and accepting.accepts(value) and _via(writer, value) == kind

    small = dressed(writer, shrink(witness, holds), holds)
    refusal = refusing.refusal(small)
    return Verdict(
        "breaking",
        direction,
        witness=small,
        has_witness=True,
        via=kind,
        refusal=refusal.message if refusal else None,
        refused_at=refusal.pointer if refusal else None,
    )


def _via(writer: Reading, value: Any) -> Via:
    return "declared" if writer.normal is None else via.via(writer.normal, value)
