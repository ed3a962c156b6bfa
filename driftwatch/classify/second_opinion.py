"""What others say about a pair of schemas: jsonschema-rs's own proof, and values near valid ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Literal

import jsonschema_rs
from jsonschema_rs import canonical

from driftwatch.classify import align, ways
from driftwatch.classify.dialect import DRAFTS
from driftwatch.classify.gate import Gate
from driftwatch.classify.normal import Normal
from driftwatch.classify.reading import Reading
from driftwatch.classify.refute import EDITS, Refutation, hints, refute
from driftwatch.classify.verdict import Policy

Covers = Literal["yes", "no", "unknown"]

_SEEDS: Final = 6
#: a tenth of a second, as measured
_MOST_WAYS: Final = 1_024


@dataclass(frozen=True, slots=True)
class Pair:
    """The question whether ``sup`` accepts everything that ``sub`` accepts."""

    sub: Reading
    sup: Reading

    @property
    def gates(self) -> tuple[Gate, Gate]:
        """The validator of each. Raises GateError."""
        return self.sub.gate, self.sup.gate


def covers(pair: Pair) -> Covers:
    """Whether jsonschema-rs proves that ``sup`` accepts everything ``sub`` accepts.

    Unknown for documents that no dialect can hold side by side, or without a normal form, and where its normal form,
    made in native code that nobody can interrupt, would be written out case by case.
    """
    if pair.sub.normal is None or pair.sup.normal is None:
        return "unknown"
    aligned = align.together(pair.sub.normal, pair.sup.normal)
    if aligned is None or any(ways.most(side.body, side.dialect) > _MOST_WAYS for side in aligned):
        return "unknown"
    policy = pair.sub.policy
    try:
        sub, sup = (_canonical(side, policy) for side in aligned)
        if pair.sub.root == "object":
            sub = sub.intersect(_canonical(Normal({"type": "object"}, aligned[0].dialect), policy))
        answer = str(sup.covers(sub))
    except (canonical.CanonicalizationError, ValueError):
        return "unknown"
    return "yes" if answer == "yes" else "no" if answer == "no" else "unknown"


def _canonical(side: Normal, policy: Policy) -> jsonschema_rs.CanonicalSchema:
    return jsonschema_rs.canonicalize(
        align.plain(side.body, side.dialect), draft=DRAFTS[side.dialect], validate_formats=policy.formats, offline=True
    )


def refuted(pair: Pair, seeds: Iterable[Any], *, limit: int = EDITS) -> Refutation | None:
    """A value against containment, near the valid ones among ``seeds`` and the constants of both documents."""
    accepting, refusing = pair.gates
    known = hints(pair.sub.schema, pair.sup.schema)
    valid = islice(filter(accepting.accepts, (*seeds, *known.values)), _SEEDS)
    return refute(valid, known, accepts=accepting.accepts, refuses=refusing.refuses, limit=limit)
