"""Is one schema contained in another? Yes with a proof, no with a witness, or why we do not know.

``contains(sub, sup)`` asks whether every value valid under ``sub`` is valid under ``sup``. The algorithm and why it is
sound: docs/classifier.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from driftwatch.classify.budget import Budget, BudgetExceeded
from driftwatch.classify.dialects import SchemaError, compile_schema, dialect_of
from driftwatch.classify.ir import Node
from driftwatch.classify.prove.answers import Found, Result, Unknown
from driftwatch.classify.prove.evaluate import holds
from driftwatch.classify.prove.plain import Plain
from driftwatch.classify.prove.search import Search
from driftwatch.classify.regex.terms import forget
from driftwatch.classify.values import ALL, OBJECT, WHOLE
from driftwatch.classify.verdict import DEFAULT_POLICY, Policy, Root

__all__ = ["Proof", "contains", "prove", "universe"]

MAX_TERMS: Final = 100_000


@dataclass(frozen=True, slots=True)
class Proof:
    """The answer.

    ``no`` comes with a ``witness``, valid under the first schema and not under the second (it may be null, so ask
    ``has_witness``). ``unknown`` says why (``reason``) and where (``pointer``); ``candidate`` is a value worth
    validating, also one that may be null. ``steps``: work done, in expansions.
    """

    answer: Literal["yes", "no", "unknown"]
    witness: Any = None
    has_witness: bool = False
    reason: str | None = None
    pointer: str | None = None
    candidate: Any = None
    has_candidate: bool = False
    steps: int = 0


def contains(
    sub: Any,
    sup: Any,
    *,
    root: Root = "any",
    sub_dialect: str | None = None,
    sup_dialect: str | None = None,
    policy: Policy = DEFAULT_POLICY,
) -> Proof:
    """Whether ``sup`` accepts every value that ``sub`` accepts.

    ``root="object"``: only objects count as values. Dialects are names such as ``draft-07``; None reads ``$schema``.
    Never raises for a schema, however hostile.
    """
    try:
        one, two = sub_dialect or dialect_of(sub).name, sup_dialect or dialect_of(sup).name
        inner = compile_schema(sub, one, formats=policy.formats)
        outer = compile_schema(sup, two, formats=policy.formats)
    except SchemaError as error:
        return Proof("unknown", reason=error.reason, pointer=error.pointer)
    except RecursionError:
        return Proof("unknown", reason="budget", pointer="")
    return prove(inner, outer, root=root, universe=universe(one, two), policy=policy)


def universe(*dialects: str) -> int:
    """The kinds of values there are for these dialects: only draft 04 tells ``1.0`` from ``1``."""
    return ALL if "draft-04" in dialects else ALL & ~WHOLE


def prove(
    inner: Node, outer: Node, *, root: Root = "any", universe: int = ALL & ~WHOLE, policy: Policy = DEFAULT_POLICY
) -> Proof:
    """Like :func:`contains`, for compiled schemas. ``universe``: the kinds of values there are."""
    if inner is outer:
        return Proof("yes")
    forget(MAX_TERMS)
    budget = Budget(policy.max_steps, policy.max_seconds)
    search = Search(budget, universe)
    try:
        mask = OBJECT if root == "object" else universe
        result = search.find((inner,), (outer,), mask)
        if isinstance(result, Found):
            result = _plainest(result, inner, outer, search, mask)
        return _proof(result, inner, outer, budget.steps)
    except (BudgetExceeded, RecursionError):
        return Proof("unknown", reason="budget", pointer="", steps=budget.steps)


def _plainest(found: Found, inner: Node, outer: Node, search: Search, mask: int) -> Found:
    """A witness of declared keys and safe numbers if there is one, else one of safe numbers, else the one found."""
    try:
        for plain in (Plain(declared=True), Plain(declared=False)):
            if plain.admits([inner], found.value):
                return found
            better = search.find((inner, plain.of([inner])), (outer,), mask)
            if isinstance(better, Found):
                return better
    except (BudgetExceeded, RecursionError):
        pass
    return found


def _proof(result: Result, inner: Node, outer: Node, steps: int) -> Proof:
    if result is None:
        return Proof("yes", steps=steps)
    if isinstance(result, Found):
        if holds(inner, result.value) is True and holds(outer, result.value) is False:
            return Proof("no", result.value, True, steps=steps)
        result = Unknown("internal", "", result)
    candidate = result.candidate
    return Proof(
        "unknown",
        reason=result.reason,
        pointer=result.pointer,
        candidate=candidate.value if candidate else None,
        has_candidate=candidate is not None,
        steps=steps,
    )
