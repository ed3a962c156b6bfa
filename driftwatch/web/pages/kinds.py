"""The same tool as two kinds of clients see it: one contract, one contract in the known wrapping, or two. Pure.

SDKs that serve both eras wrap outputs that are no objects as ``{result: …}`` for 2025-11-25 clients and rewrite the
references below it; that is no difference anyone has to act on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from driftwatch.capture.semantic import semantic_digest
from driftwatch.history.views import ToolView
from driftwatch.web.pages import words
from driftwatch.web.pages.definitions import Definition
from driftwatch.web.pages.words import State

Likeness = Literal["same", "words", "wrapped", "differs", "one-sided"]

#: tools whose two definitions are loaded and compared; the rest is told apart by digests alone
MAX_COMPARED: Final = 60
_DEEPEST: Final = 100

_STATES: Final[Mapping[Likeness, State]] = {
    "same": State("compatible", "compatible", "same contract", quiet=True),
    "words": State("compatible", "compatible", "same contract, other words", quiet=True),
    "wrapped": State("compatible", "compatible", "same up to the known wrapping", quiet=True),
    "differs": State("undecided", "note", "really differs"),
    "one-sided": State("undecided", "note", "seen by one kind only"),
}


@dataclass(frozen=True, slots=True)
class Pair:
    """A tool over both kinds of clients; ``sides``: (tool id, era, version) of each that has it now."""

    name: str
    sides: tuple[tuple[int, str, int], ...]
    likeness: Likeness
    state: State
    parts: str

    @property
    def href(self) -> str:
        """Both definitions side by side."""
        first, *rest = [tool for tool, _, _ in self.sides]
        return f"/tools/{first}/against/{rest[0]}" if rest else f"/tools/{first}"


@dataclass(frozen=True, slots=True)
class Compared:
    """All tools that are not simply the same, and one sentence about all of them."""

    sentence: str
    pairs: tuple[Pair, ...]


def to_load(tools: Sequence[ToolView]) -> list[int]:
    """The versions whose definitions decide between wrapped and different."""
    doubtful = [group for group in _groups(tools).values() if len(group) > 1 and _by_digest(group) == "differs"]
    return [tool.version_id for group in doubtful[:MAX_COMPARED] for tool in group if tool.version_id is not None]


def compare(tools: Sequence[ToolView], definitions: Mapping[int, Definition], eras: Sequence[str]) -> Compared | None:
    """How alike the kinds of clients see this server; None when only one kind is watched."""
    if len(set(eras)) < 2:
        return None
    pairs = [_pair(name, group, definitions) for name, group in _groups(tools).items()]
    odd = tuple(pair for pair in pairs if pair.likeness != "same")
    return Compared(_sentence(pairs), odd)


def state_of(one: Definition, other: Definition, *, changed: bool) -> State:
    """How alike two definitions are; ``changed``: something differs that people can see."""
    same = all(
        semantic_digest(one.body.get(key)) == semantic_digest(other.body.get(key))
        for key in ("inputSchema", "outputSchema")
    )
    if same:
        return _STATES["words" if changed else "same"]
    return _STATES["wrapped" if same_but_wrapped(one, other) else "differs"]


def _groups(tools: Sequence[ToolView]) -> dict[str, list[ToolView]]:
    found: dict[str, list[ToolView]] = {}
    for tool in tools:
        if tool.version is not None:
            found.setdefault(tool.name, []).append(tool)
    return found


def _pair(name: str, group: Sequence[ToolView], definitions: Mapping[int, Definition]) -> Pair:
    likeness: Likeness = "one-sided" if len(group) < 2 else _by_digest(group)
    if likeness == "differs":
        both = [definitions.get(tool.version_id or 0) for tool in group[:2]]
        if both[0] is not None and both[1] is not None and same_but_wrapped(both[0], both[1]):
            likeness = "wrapped"
    sides = tuple((tool.id, tool.era, tool.version) for tool in group if tool.version is not None)
    return Pair(name, sides, likeness, _STATES[likeness], _parts(group) if len(group) > 1 else "")


def _by_digest(group: Sequence[ToolView]) -> Likeness:
    first, second = group[0], group[1]
    if first.part_shas == second.part_shas:
        return "same"
    return "words" if first.semantic_shas == second.semantic_shas else "differs"


def _parts(group: Sequence[ToolView]) -> str:
    first, second = group[0].part_shas, group[1].part_shas
    return ", ".join(sorted(part for part in {*first, *second} if first.get(part) != second.get(part)))


def same_but_wrapped(one: Definition, other: Definition) -> bool:
    """True when inputs mean the same and outputs do once the wrapping is taken off either side."""
    inputs = [semantic_digest(side.body.get("inputSchema")) for side in (one, other)]
    outputs = [side.body.get("outputSchema") for side in (one, other)]
    if inputs[0] != inputs[1] or any(schema is None for schema in outputs):
        return False
    return _wraps(outputs[0], outputs[1]) or _wraps(outputs[1], outputs[0])


def _wraps(outer: Any, inner: Any) -> bool:
    bare = unwrapped(outer)
    return bare is not None and semantic_digest(bare) == semantic_digest(inner)


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


def _sentence(pairs: Sequence[Pair]) -> str:
    odd = [pair for pair in pairs if pair.likeness in ("differs", "one-sided")]
    wrapped = sum(1 for pair in pairs if pair.likeness == "wrapped")
    if not pairs:
        return "Neither kind of client sees a tool."
    tail = f"; {words.count(wrapped, 'output')} in the known wrapping" if wrapped else ""
    if not odd:
        return f"Same contracts for both kinds of clients{tail}."
    return f"Same contracts for both kinds of clients but {len(odd)}: {words.listed([p.name for p in odd])}{tail}."
