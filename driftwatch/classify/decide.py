"""The decision behind every verdict: whether one schema accepts only what another accepts.

This is the seam of the prover. Here jsonschema-rs decides containment and a directed search finds witnesses; another
prover may take this place as long as it keeps the promise of ``contains``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import jsonschema_rs
from jsonschema_rs import canonical

from driftwatch.classify import align, via
from driftwatch.classify.dialect import DRAFTS, Dialect, Schema
from driftwatch.classify.gate import Gate, GateError
from driftwatch.classify.normal import Normal, NotNormalError, UnresolvedError, normalise
from driftwatch.classify.verdict import Policy, Root
from driftwatch.classify.witness.search import REFUTING, Effort, search


@dataclass(frozen=True, slots=True)
class Proof:
    """``yes``; ``no`` with a witness both validators agreed on; or ``unknown`` with the reason."""

    answer: Literal["yes", "no", "unknown"]
    witness: Any = None
    reason: str | None = None


def yes() -> Proof:
    """Proved: every value of the one is a value of the other."""
    return Proof("yes")


def no(witness: Any) -> Proof:
    """Refuted by a value."""
    return Proof("no", witness)


def unknown(reason: str) -> Proof:
    """Neither proved nor refuted."""
    return Proof("unknown", reason=reason)


def contains(sub: Schema, sup: Schema, *, root: Root, dialects: tuple[Dialect, Dialect], policy: Policy) -> Proof:
    """Whether every instance valid under ``sub`` is valid under ``sup``.

    ``root`` "object": only objects are instances. ``dialects``: of ``sub`` and of ``sup``. Both must be valid schemas
    whose local references resolve. A ``no`` carries a value that jsonschema-rs accepts under ``sub`` and refuses under
    ``sup``, preferably one of declared keys and safe numbers; its other answers may be ``unknown``, never a guess.
    """
    try:
        gates = (Gate(sub, dialects[0], root, policy), Gate(sup, dialects[1], root, policy))
        inside, outside = normalise(sub, dialects[0]), normalise(sup, dialects[1])
    except GateError as error:
        return unknown(f"unsupported: {error}")
    except NotNormalError as error:
        return unknown(f"{error.reason} at {error.at}")
    except UnresolvedError as error:
        return unknown(f"unresolved-reference at {error.at}")
    covered, difference = _covered(inside, outside, root, policy)
    effort = Effort(REFUTING if covered == "yes" else policy.max_steps, policy.max_seconds)
    found = search(inside, outside, gates, effort, rank=lambda value: via.rank(inside, value), difference=difference)
    if found is None:
        return yes() if covered == "yes" else unknown("no proof and no witness found")
    if covered == "yes":
        # A proof and a counter-example cannot both be right. Say so instead of choosing.
        return unknown("disagreement: proved contained, but a witness was found")
    return no(found.value)


def _covered(inside: Normal, outside: Normal, root: Root, policy: Policy) -> tuple[str, Normal | None]:
    aligned = align.together(inside, outside)
    if aligned is None:
        return "unknown", None
    try:
        sub, sup = (_canonical(side, policy) for side in aligned)
        if root == "object":
            sub = sub.intersect(_canonical(Normal({"type": "object"}, aligned[0].dialect, ""), policy))
        answer = str(sup.covers(sub))
        return answer, _difference(sub, sup, aligned[0].dialect) if answer != "yes" else None
    except (canonical.CanonicalizationError, ValueError):
        return "unknown", None


def _canonical(side: Normal, policy: Policy) -> jsonschema_rs.CanonicalSchema:
    return jsonschema_rs.canonicalize(
        side.body, draft=DRAFTS[side.dialect], validate_formats=policy.formats, offline=True
    )


def _difference(
    sub: jsonschema_rs.CanonicalSchema, sup: jsonschema_rs.CanonicalSchema, dialect: Dialect
) -> Normal | None:
    try:
        schema = sub.subtract(sup).to_json_schema()
        return normalise(schema, dialect) if isinstance(schema, dict) else None
    except (canonical.CanonicalizationError, ValueError, NotNormalError, UnresolvedError):
        return None
