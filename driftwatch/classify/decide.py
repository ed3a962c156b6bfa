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
        inside = normalise(sub, dialects[0], formats=policy.formats)
        outside = normalise(sup, dialects[1], formats=policy.formats)
    except GateError as error:
        return unknown(f"unsupported: {error}")
    except NotNormalError as error:
        return unknown(f"{error.reason} at {error.at}")
    except UnresolvedError as error:
        return unknown(f"unresolved-reference at {error.at}")
    pair = _canonical_pair(inside, outside, root, policy)
    covered = pair is not None and pair.covered
    found = search(
        inside,
        outside,
        gates,
        Effort(REFUTING if covered else policy.max_steps, policy.max_seconds),
        rank=lambda value: via.rank(inside, value),
        difference=lambda: None if covered or pair is None else pair.difference(),
    )
    if found is None:
        return yes() if covered else unknown("no proof and no witness found")
    if covered:
        # A proof and a counter-example cannot both be right. Say so instead of choosing.
        return unknown("disagreement: proved contained, but a witness was found")
    return no(found.value)


@dataclass(frozen=True, slots=True)
class _CanonicalPair:
    """Both sides as jsonschema-rs compares them, in one dialect."""

    sub: jsonschema_rs.CanonicalSchema
    sup: jsonschema_rs.CanonicalSchema
    dialect: Dialect
    covered: bool

    def difference(self) -> Normal | None:
        """A schema of the values of ``sub`` that ``sup`` refuses, where it can be written down."""
        try:
            schema = self.sub.subtract(self.sup).to_json_schema()
            return normalise(schema, self.dialect) if isinstance(schema, dict) else None
        except (canonical.CanonicalizationError, ValueError, NotNormalError, UnresolvedError):
            return None


def _canonical_pair(inside: Normal, outside: Normal, root: Root, policy: Policy) -> _CanonicalPair | None:
    aligned = align.together(inside, outside)
    if aligned is None:
        return None
    try:
        sub, sup = (_canonical(side, policy) for side in aligned)
        if root == "object":
            sub = sub.intersect(_canonical(Normal({"type": "object"}, aligned[0].dialect, ""), policy))
        return _CanonicalPair(sub, sup, aligned[0].dialect, str(sup.covers(sub)) == "yes")
    except (canonical.CanonicalizationError, ValueError):
        return None


def _canonical(side: Normal, policy: Policy) -> jsonschema_rs.CanonicalSchema:
    return jsonschema_rs.canonicalize(
        align.plain(side.body, side.dialect), draft=DRAFTS[side.dialect], validate_formats=policy.formats, offline=True
    )
