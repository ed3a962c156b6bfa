"""One tool as the two eras show it: the same contract, the same up to the known wrapping, or another one. Pure.

SDKs that serve both eras wrap outputs that are no objects as ``{result: …}`` for 2025-11-25 clients and rewrite the
references below it. Whatever else is written differently is the same contract when the classifier proves both ways
that nothing breaks; where it finds a witness, the eras really differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from driftwatch.capture.model import ToolDefinition
from driftwatch.capture.semantic import semantic_digest
from driftwatch.classify.comparing import Classifier
from driftwatch.classify.tool import PartAssessment
from driftwatch.classify.verdict import Direction, Root
from driftwatch.errors import CaptureError
from driftwatch.wire.facts import Era

Likeness = Literal["same", "words", "wrapped", "equivalent", "differs", "undecided"]

_DEEPEST: Final = 100
_PARTS: Final[tuple[tuple[Direction, str], ...]] = (("output", "outputSchema"), ("input", "inputSchema"))


@dataclass(frozen=True, slots=True)
class Difference:
    """What a client of the era ``holder`` would make of the contract that the other era shows."""

    holder: Era
    assessment: PartAssessment


@dataclass(frozen=True, slots=True)
class Equivalence:
    """How alike the eras show a tool.

    ``same``: byte for byte but for the order of keys; ``words``: texts, hints or spelling differ; ``wrapped``: the same
    once the wrapping is taken off; ``equivalent``: proved to allow the same; ``differs``: a witness, a missing schema
    or a definition that clients refuse says otherwise; ``undecided``: neither could be proved.
    ``differences``: what decided, the proofs that nothing breaks left out.
    """

    likeness: Likeness
    differences: tuple[Difference, ...] = ()


async def across_eras(classifier: Classifier, modern: ToolDefinition, legacy: ToolDefinition) -> Equivalence:
    """How alike two current definitions of one tool are."""
    if modern.sha256 == legacy.sha256 or (modern.part_shas and modern.part_shas == legacy.part_shas):
        return Equivalence("same")
    one, other = _schemas(modern), _schemas(legacy)
    if modern.invalid is not None or legacy.invalid is not None or one is None or other is None:
        return Equivalence("differs")
    wrapped = wraps(other.get("output"), one.get("output"))
    if wrapped:
        other["output"] = unwrapped(other["output"])
    found: list[Difference] = []
    asked = False
    for part, _ in _PARTS:
        mine, yours = one.get(part), other.get(part)
        if semantic_digest(mine) != semantic_digest(yours):
            asked = True
            found += await _both_ways(classifier, part, mine, yours, wrapped=wrapped)
    verdicts = {difference.assessment.verdict for difference in found}
    if "breaking" in verdicts or "invalid" in verdicts or one.keys() != other.keys():
        return Equivalence("differs", tuple(found))
    if found:
        return Equivalence("undecided", tuple(found))
    return Equivalence("wrapped" if wrapped else "equivalent" if asked else "words")


async def _both_ways(
    classifier: Classifier, part: Direction, modern: Any, legacy: Any, *, wrapped: bool
) -> list[Difference]:
    root: Root = "any" if wrapped and part == "output" else "object"
    found = []
    for holder, old, new in ((Era.MODERN, modern, legacy), (Era.LEGACY, legacy, modern)):
        assessment = await classifier.assess_schemas(old, new, directions=(part,), root=root, era=holder)
        found += [
            Difference(holder, one)
            for one in assessment.parts
            if one.verdict != "compatible" or (modern is None) != (legacy is None)
        ]
    return found


def _schemas(definition: ToolDefinition) -> dict[str, Any] | None:
    """The schemas that are declared, by part; None where the definition cannot be read."""
    try:
        parsed = definition.parsed()
    except CaptureError:
        return None
    if not isinstance(parsed, dict):
        return None
    return {str(part): parsed[key] for part, key in _PARTS if key in parsed}


def wraps(outer: Any, inner: Any) -> bool:
    """True when ``outer`` has the shape of the wrapping and ``inner`` is what an SDK would wrap: no object schema."""
    if unwrapped(outer) is None or unwrapped(inner) is not None:
        return False
    return inner is not None and not (isinstance(inner, Mapping) and inner.get("type") == "object")


def same_but_wrapped(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """True when inputs are spelled alike and outputs are once the wrapping is taken off either definition."""
    if semantic_digest(one.get("inputSchema")) != semantic_digest(other.get("inputSchema")):
        return False
    pair = one.get("outputSchema"), other.get("outputSchema")
    return any(
        wraps(outer, inner) and semantic_digest(unwrapped(outer)) == semantic_digest(inner)
        for outer, inner in (pair, pair[::-1])
    )


def unwrapped(schema: Any) -> Any:
    """The schema inside ``{result: …}``, its definitions and references put back; None when it is no wrapping."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping) or list(properties) != ["result"]:
        return None
    inner = _rewritten(properties["result"], _DEEPEST)
    if not isinstance(inner, dict):
        return inner
    kept = {key: schema[key] for key in ("$defs", "definitions", "$schema") if key in schema and key not in inner}
    return {**inner, **kept}


def _rewritten(node: Any, depth: int) -> Any:
    if depth <= 0:
        return node
    if isinstance(node, list):
        return [_rewritten(item, depth - 1) for item in node]
    if not isinstance(node, Mapping):
        return node
    return {
        key: _reference(value) if key == "$ref" and isinstance(value, str) else _rewritten(value, depth - 1)
        for key, value in node.items()
    }


def _reference(target: str) -> str:
    prefix = "#/properties/result"
    return f"#{target.removeprefix(prefix)}" if target == prefix or target.startswith(f"{prefix}/") else target
