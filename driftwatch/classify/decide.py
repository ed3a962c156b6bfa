"""The decision behind every verdict: whether one schema accepts only what another accepts.

The prover leads. Its ``no`` counts with a witness that validators confirm on the documents as written; its ``yes``
unless somebody who shares nothing with it disagrees; where it does not know, the others may.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from driftwatch.classify import prove
from driftwatch.classify.dialect import DEFAULT
from driftwatch.classify.dialects import SchemaError
from driftwatch.classify.gate import GateError
from driftwatch.classify.reading import Reading
from driftwatch.classify.refute import EDITS
from driftwatch.classify.second_opinion import Pair, covers, refuted

#: how every reason begins that says two of us contradict each other: counted, and looked at by people
DISAGREEMENT: Final = "disagreement"
#: edits tried where nobody has proved anything
_MOST_EDITS: Final = 1_500


@dataclass(frozen=True, slots=True)
class Proof:
    """``yes``; ``no`` with a witness both validators agreed on; or ``unknown`` with the reason and where."""

    answer: Literal["yes", "no", "unknown"]
    witness: Any = None
    reason: str | None = None
    pointer: str | None = None


def yes() -> Proof:
    """Proved: every value of the one is a value of the other."""
    return Proof("yes")


def no(witness: Any) -> Proof:
    """Refuted by a value."""
    return Proof("no", witness)


def unknown(reason: str, pointer: str | None = None) -> Proof:
    """Neither proved nor refuted."""
    return Proof("unknown", reason=reason, pointer=pointer)


def contains(sub: Reading, sup: Reading) -> Proof:
    """Whether every instance valid under ``sub`` is valid under ``sup``.

    Both must be valid schemas whose local references resolve, read for the same root and policy. A ``no`` carries a
    value that jsonschema-rs accepts under ``sub`` and refuses under ``sup``, preferably one of declared keys and safe
    numbers; its other answers may be ``unknown``, never a guess.
    """
    pair = Pair(sub, sup)
    try:
        _ = pair.gates
    except GateError as error:
        return unknown(f"unsupported: {error}")
    proof = proved(sub, sup)
    if proof.answer == "yes":
        return _vetoed(pair)
    return _refuted(pair, proof) or _without_the_prover(pair, proof)


def glance(sub: Reading, sup: Reading) -> Proof:
    """Like :func:`contains`, for explanations: a ``no`` is confirmed, but nobody else is asked about a ``yes``."""
    try:
        proof = proved(sub, sup)
        return yes() if proof.answer == "yes" else _refuted(Pair(sub, sup), proof) or unknown(proof.reason or "unknown")
    except GateError as error:
        return unknown(f"unsupported: {error}")


def proved(sub: Reading, sup: Reading) -> prove.Proof:
    """What the prover says. Never raises for a schema."""
    try:
        inner, outer = sub.node, sup.node
    except SchemaError as error:
        return prove.Proof("unknown", reason=error.reason, pointer=error.pointer)
    except RecursionError:
        return prove.Proof("unknown", reason="budget", pointer="")
    universe = prove.universe(sub.dialect, sup.dialect)
    return prove.prove(inner, outer, root=sub.root, universe=universe, policy=sub.policy)


def _refuted(pair: Pair, proof: prove.Proof) -> Proof | None:
    """The answer, if the prover has a witness or a candidate for one that the validators judge."""
    if proof.answer == "no":
        if _confirmed(pair, proof.witness):
            return no(proof.witness)
        return unknown(f"{DISAGREEMENT}: the prover's witness was not confirmed")
    if proof.has_candidate and _confirmed(pair, proof.candidate):
        return no(proof.candidate)
    return None


def _confirmed(pair: Pair, value: Any) -> bool:
    accepting, refusing = pair.gates
    return refusing.refuses(value) and accepting.accepts(value)


def _vetoed(pair: Pair) -> Proof:
    """A yes, unless jsonschema-rs says no or, where it does not know, a value refutes it."""
    opinion = covers(pair)
    if opinion == "yes":
        return yes()
    if opinion == "no":
        return unknown(f"{DISAGREEMENT}: proved contained, but jsonschema-rs says it is not")
    if refuted(pair, _samples(pair)) is not None:
        return unknown(f"{DISAGREEMENT}: proved contained, but a value refutes it")
    return yes()


def _without_the_prover(pair: Pair, proof: prove.Proof) -> Proof:
    """What the others say where the prover does not know."""
    covered = covers(pair) == "yes"
    found = refuted(pair, _samples(pair), limit=EDITS if covered else _MOST_EDITS)
    if found is not None and covered:
        # A proof and a counter-example cannot both be right. Say so instead of choosing.
        return unknown(f"{DISAGREEMENT}: jsonschema-rs says contained, but a value refutes it")
    if found is not None:
        return no(found.value)
    return yes() if covered else unknown(proof.reason or "unknown", proof.pointer)


def _samples(pair: Pair) -> list[Any]:
    """A smallest value of the one schema, as far as the prover can tell; whether it is one, validators say."""
    nothing = Reading(False, DEFAULT, pair.sub.root, pair.sub.policy)
    sample = proved(pair.sub, nothing)
    if sample.has_witness:
        return [sample.witness]
    return [sample.candidate] if sample.has_candidate else []
