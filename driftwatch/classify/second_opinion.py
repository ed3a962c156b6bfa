"""What others say about a pair of schemas: jsonschema-rs, and searches that share no code with the prover."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Literal

import jsonschema_rs
from jsonschema_rs import canonical

from driftwatch.classify import align, via
from driftwatch.classify.dialect import DRAFTS, Dialect
from driftwatch.classify.gate import Gate
from driftwatch.classify.normal import Normal, NotNormalError, UnresolvedError, normalise
from driftwatch.classify.reading import Reading
from driftwatch.classify.refute import Refutation, hints, refute
from driftwatch.classify.verdict import Policy
from driftwatch.classify.witness.candidates import Candidates
from driftwatch.classify.witness.search import Effort, Found, search

Covers = Literal["yes", "no", "unknown"]

_TRIED: Final = 60
_SEEDS: Final = 4


@dataclass(frozen=True, slots=True)
class Pair:
    """The question whether ``sup`` accepts everything that ``sub`` accepts."""

    sub: Reading
    sup: Reading

    @property
    def gates(self) -> tuple[Gate, Gate]:
        """The validator of each."""
        return self.sub.gate, self.sup.gate

    @property
    def normals(self) -> tuple[Normal, Normal] | None:
        """The normal form of each, where both have one."""
        if self.sub.normal is None or self.sup.normal is None:
            return None
        return self.sub.normal, self.sup.normal


class SecondOpinion:
    """Opinions about one pair. Documents without a normal form (dynamic or remote references) have few."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.normals = pair.normals
        self._canonical = _canonical_pair(self.normals, pair) if self.normals else None

    @property
    def covers(self) -> Covers:
        """Whether jsonschema-rs proves that ``sup`` accepts everything ``sub`` accepts."""
        return self._canonical.covers if self._canonical else "unknown"

    def refuted(self, seeds: tuple[Any, ...] = ()) -> Refutation | None:
        """A value against containment near valid ones; ``seeds`` are used where no others are found."""
        accepting, refusing = self.pair.gates
        found: list[Any] = []
        if self.normals:
            tried = islice(Candidates(*self.normals, rich=True).whole(), _TRIED)
            found = list(islice(filter(accepting.accepts, tried), _SEEDS))
        known = hints(self.pair.sub.schema, self.pair.sup.schema)
        return refute(found or list(seeds), known, accepts=accepting.accepts, refuses=refusing.refuses)

    def witness(self, effort: Effort) -> Found | None:
        """The best value that refutes containment, found by directed search."""
        if not self.normals:
            return None
        inside, outside = self.normals
        difference = self._canonical.difference if self._canonical else lambda: None
        return search(
            inside,
            outside,
            self.pair.gates,
            effort,
            rank=lambda value: via.rank(inside, value),
            difference=difference,
        )


@dataclass(frozen=True, slots=True)
class _CanonicalPair:
    """Both sides as jsonschema-rs compares them, in one dialect."""

    sub: jsonschema_rs.CanonicalSchema
    sup: jsonschema_rs.CanonicalSchema
    dialect: Dialect
    covers: Covers

    def difference(self) -> Normal | None:
        """A schema of the values of ``sub`` that ``sup`` refuses, where it can be written down."""
        try:
            schema = self.sub.subtract(self.sup).to_json_schema()
            return normalise(schema, self.dialect) if isinstance(schema, dict) else None
        except (canonical.CanonicalizationError, ValueError, NotNormalError, UnresolvedError):
            return None


def _canonical_pair(normals: tuple[Normal, Normal], pair: Pair) -> _CanonicalPair | None:
    aligned = align.together(*normals)
    if aligned is None:
        return None
    try:
        sub, sup = (_canonical(side, pair.sub.policy) for side in aligned)
        if pair.sub.root == "object":
            sub = sub.intersect(_canonical(Normal({"type": "object"}, aligned[0].dialect), pair.sub.policy))
        answer = str(sup.covers(sub))
    except (canonical.CanonicalizationError, ValueError):
        return None
    covers: Covers = "yes" if answer == "yes" else "no" if answer == "no" else "unknown"
    return _CanonicalPair(sub, sup, aligned[0].dialect, covers)


def _canonical(side: Normal, policy: Policy) -> jsonschema_rs.CanonicalSchema:
    return jsonschema_rs.canonicalize(
        align.plain(side.body, side.dialect), draft=DRAFTS[side.dialect], validate_formats=policy.formats, offline=True
    )
