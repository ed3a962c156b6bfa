"""``classify``: whether a change breaks a client that still holds the old schema."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from driftwatch.classify import decide, dialect, exact, invalid, via
from driftwatch.classify.dialect import Dialect, Schema
from driftwatch.classify.findings import presence
from driftwatch.classify.findings.explain import annotation_findings, explain
from driftwatch.classify.gate import Gate, GateError
from driftwatch.classify.normal import Normal, NotNormalError, UnresolvedError, normalise
from driftwatch.classify.verdict import DEFAULT_POLICY, Direction, Policy, Root, Verdict
from driftwatch.classify.witness.formats import dressed
from driftwatch.classify.witness.shrink import shrink

_DEEPEST: Final = 128
_MOST_NODES: Final = 200_000


@dataclass(frozen=True, slots=True)
class Side:
    """One schema, read: its dialect (None: unknown), normal form where it has one, or what is wrong with it."""

    schema: Schema
    dialect: Dialect | None
    normal: Normal | None = None
    problem: invalid.Problem | None = None
    limit: str | None = None


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
    sides = (_read(old, old_dialect, policy), _read(new, new_dialect, policy))
    try:
        verdict = _judge(old, new, sides, direction, root, policy)
    except (RecursionError, MemoryError) as error:
        verdict = Verdict("undecided", direction, reason=f"budget: {type(error).__name__}")
    return replace(verdict, dialects=(sides[0].dialect, sides[1].dialect))


def _read(schema: Any, given: str | None, policy: Policy) -> Side:
    if schema is None:
        return Side(True, dialect.DEFAULT if given is None else dialect.named(given), Normal(True, "2020-12", "true"))
    limit = _unreadable(schema)
    if limit is not None:
        return Side(schema, None, limit=limit)
    known = dialect.of(schema, given)
    if known is None:
        return Side(schema, None)
    problem = invalid.written(schema, known)
    if problem is not None:
        return Side(schema, known, problem=problem)
    try:
        normal = normalise(schema, known, formats=policy.formats)
    except NotNormalError:
        return Side(schema, known)
    except UnresolvedError as error:
        return Side(schema, known, problem=invalid.Problem(str(error), error.at))
    return Side(schema, known, normal, invalid.recursion(normal))


def _unreadable(schema: Any) -> str | None:
    """Why a document is not even looked at: too large, too deep, or no JSON that every validator can hold."""
    pending: list[tuple[Any, int]] = [(schema, 0)]
    nodes = 0
    while pending:
        node, depth = pending.pop()
        nodes += 1
        if depth > _DEEPEST:
            return f"budget: nested deeper than {_DEEPEST}"
        if nodes > _MOST_NODES:
            return f"budget: more than {_MOST_NODES} nodes"
        if isinstance(node, dict):
            pending.extend((part, depth + 1) for part in (*node, *node.values()))
        elif isinstance(node, list):
            pending.extend((child, depth + 1) for child in node)
        elif not exact.is_json(node):
            return "not-json: a value that JSON cannot hold"
    return None


def _judge(
    old: Schema | None, new: Schema | None, sides: tuple[Side, Side], direction: Direction, root: Root, policy: Policy
) -> Verdict:
    early = _unusable(sides, direction) or _absent(old, new, direction) or _unread(sides, direction)
    if early is not None:
        return early
    mine, yours = sides
    if mine.normal is not None and yours.normal is not None and _same(mine.normal, yours.normal):
        notes = annotation_findings(mine.schema, yours.schema, _dialects(sides), direction)
        return Verdict("compatible", direction, reason="annotations-only" if notes else "same-meaning", findings=notes)
    verdict = _decided(sides, direction, root, policy)
    return replace(verdict, findings=explain(mine.schema, yours.schema, verdict, _dialects(sides), policy))


def _same(left: Normal, right: Normal) -> bool:
    return left.dialect == right.dialect and left.key == right.key


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


def _absent(old: Schema | None, new: Schema | None, direction: Direction) -> Verdict | None:
    if direction == "input" or (old is None) == (new is None):
        return None
    if old is None:
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


def _decided(sides: tuple[Side, Side], direction: Direction, root: Root, policy: Policy) -> Verdict:
    writer, reader = reversed(sides) if direction == "output" else sides
    dialects = (writer.dialect or dialect.DEFAULT, reader.dialect or dialect.DEFAULT)
    proof = decide.contains(writer.schema, reader.schema, root=root, dialects=dialects, policy=policy)
    if proof.answer == "yes":
        return Verdict("compatible", direction)
    if proof.answer == "unknown":
        return Verdict("undecided", direction, reason=proof.reason, pointer=proof.pointer)
    return _witnessed(proof.witness, writer, reader, dialects, direction, root, policy)


def _witnessed(
    witness: Any,
    writer: Side,
    reader: Side,
    dialects: tuple[Dialect, Dialect],
    direction: Direction,
    root: Root,
    policy: Policy,
) -> Verdict:
    """A break, once the validators confirm it on the documents as written; the witness shrunk, its kind kept."""
    try:
        accepting = Gate(writer.schema, dialects[0], root, policy)
        refusing = Gate(reader.schema, dialects[1], root, policy)
    except GateError as error:
        return Verdict("undecided", direction, reason=f"unsupported: {error}")
    if not (refusing.refuses(witness) and accepting.accepts(witness)):
        return Verdict("undecided", direction, reason="disagreement: the witness was not confirmed")
    normal = writer.normal
    kind = via.via(normal, witness) if normal is not None else "declared"

    def holds(value: Any) -> bool:
        if not (refusing.refuses(value) and accepting.accepts(value)):
            return False
        return normal is None or via.via(normal, value) == kind

    small = shrink(witness, holds)
    if normal is not None:
        small = dressed(normalise(writer.schema, dialects[0], formats=True), small, holds)
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
