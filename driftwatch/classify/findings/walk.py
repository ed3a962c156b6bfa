"""Two documents side by side: the positions that correspond, outermost first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from driftwatch.classify import exact
from driftwatch.classify.dialect import Dialect, Schema
from driftwatch.classify.findings.rule import Local, name
from driftwatch.classify.findings.view import Document, View, child, references, view
from driftwatch.classify.verdict import Direction
from driftwatch.classify.witness.places import prefix_of

_MOST: Final = 600
_DEEPEST: Final = 14


@dataclass(frozen=True, slots=True)
class Spot:
    """A pair of corresponding positions. ``path``: how people name it, empty at the root."""

    old: View
    new: View
    path: str
    direction: Direction

    @property
    def subject(self) -> str:
        """The subject of a sentence about this position."""
        if self.path:
            return name(self.path)
        return "results" if self.direction == "output" else "arguments"

    @property
    def pointer(self) -> str:
        """Where it is in the new document."""
        return self.new.pointer

    def below(self, text: str) -> str:
        """How people name a member of this position."""
        return f"{self.path}.{text}" if self.path else text

    def local(self) -> Local | None:
        """Both positions as documents of their own, where their references allow it."""
        return pair(self.old.document, self.old.schema, self.new.document, self.new.schema)

    def only(self, member: str) -> Local | None:
        """Both positions reduced to objects whose only possible key is ``member``."""
        if self._nameless():
            return None
        sides = [_reduced(side.words, {"const": member}, {member}) for side in (self.old, self.new)]
        return pair(self.old.document, sides[0], self.new.document, sides[1])

    def _nameless(self) -> bool:
        """Whether a dialect has no way to restrict key names."""
        return "draft-04" in (self.old.document.dialect, self.new.document.dialect)

    def undeclared(self) -> Local | None:
        """Both positions reduced to objects of keys that neither side declares."""
        if self._nameless():
            return None
        known = sorted({*self.old.properties, *self.new.properties})
        names: dict[str, Any] = {"not": {"enum": known}} if known else {}
        sides = [_reduced(side.words, names, set()) for side in (self.old, self.new)]
        return pair(self.old.document, sides[0], self.new.document, sides[1])


def _reduced(words: dict[str, Any], names: dict[str, Any], kept: set[str]) -> dict[str, Any]:
    out: dict[str, Any] = {"type": "object", "propertyNames": names}
    properties = {key: schema for key, schema in words.get("properties", {}).items() if key in kept}
    if not properties and "properties" in words:
        # Whether the object names anything at all says if an unnamed key is a surprise; this one cannot occur.
        properties = {next(iter(words["properties"]), ""): True}
    required = [key for key in words.get("required", ()) if key in kept]
    out |= {word: value for word, value in (("properties", properties), ("required", sorted(set(required)))) if value}
    return out | {word: words[word] for word in ("additionalProperties", "patternProperties") if word in words}


def pair(old: Document, before: Schema, new: Document, after: Schema) -> Local | None:
    """Two schemas cut out of their documents, with the definitions they may refer to."""
    cut = (_cut_out(old, before), _cut_out(new, after))
    return None if cut[0] is None or cut[1] is None else Local(cut[0], cut[1])


def _cut_out(document: Document, schema: Schema) -> Schema | None:
    if isinstance(schema, bool):
        return schema
    found = list(references(schema))
    if not found:
        return schema
    definitions = document.definitions
    for reference in (*found, *references(definitions)):
        if not reference.startswith(("#/$defs/", "#/definitions/")):
            return None
    return {**schema, **definitions}


def spots(old: Schema, new: Schema, dialects: tuple[Dialect, Dialect], direction: Direction) -> Iterator[Spot]:
    """Corresponding positions of two documents, at most some hundreds; equal subtrees and cycles are left out."""
    before, after = Document(old, dialects[0]), Document(new, dialects[1])
    pending = [(Spot(view(before, old, ""), view(after, new, ""), "", direction), 0)]
    seen: set[tuple[str, str]] = set()
    count = 0
    while pending and count < _MOST:
        spot, depth = pending.pop(0)
        if depth and _settled(spot, seen):
            continue
        count += 1
        yield spot
        if depth < _DEEPEST:
            pending.extend((below, depth + 1) for below in _below(spot) if below is not None)


def _settled(spot: Spot, seen: set[tuple[str, str]]) -> bool:
    mine, yours = spot.old, spot.new
    if mine.reference is None and yours.reference is None:
        return False
    at = (mine.reference or mine.pointer, yours.reference or yours.pointer)
    if at in seen:
        return True
    seen.add(at)
    return False


def _below(spot: Spot) -> Iterator[Spot | None]:
    old, new = spot.old, spot.new
    for key in new.properties:
        if key in old.properties:
            yield _pair(spot, ("properties", key), old.properties[key], new.properties[key], spot.below(key))
    yield from _items(spot)
    rest = "additionalProperties"
    if isinstance(old.words.get(rest), dict) and isinstance(new.words.get(rest), dict):
        yield _pair(spot, (rest,), old.words[rest], new.words[rest], spot.below("*"))
    before, after = (side.words.get("patternProperties", {}) for side in (old, new))
    for pattern in after:
        if pattern in before:
            yield _pair(spot, ("patternProperties", pattern), before[pattern], after[pattern], spot.below("*"))
    for left, right, at in paired_branches(spot):
        yield _pair(spot, at, left, right, spot.path)


def _pair(spot: Spot, tokens: tuple[str, ...], old: Any, new: Any, path: str) -> Spot | None:
    """The position below, or None where nothing can have changed."""
    moves = spot.old.document.refers or spot.new.document.refers
    if exact.same(old, new) and not (moves and any(True for _ in references(old))):
        return None
    return Spot(child(spot.old, tokens, old), child(spot.new, tokens, new), path, spot.direction)


def _items(spot: Spot) -> Iterator[Spot | None]:
    (before, rest_before), (after, rest_after) = prefix_of(spot.old.words), prefix_of(spot.new.words)
    word = "items" if isinstance(spot.new.words.get("items"), list) else "prefixItems"
    for index, (left, right) in enumerate(zip(before, after, strict=False)):
        yield _pair(spot, (word, str(index)), left, right, f"{spot.path}[{index}]")
    if rest_before is not None and rest_after is not None:
        at = "additionalItems" if word == "items" else "items"
        yield _pair(spot, (at,), rest_before, rest_after, f"{spot.path}[]")


def paired_branches(spot: Spot) -> list[tuple[Any, Any, tuple[str, ...]]]:
    """Branches of both unions that describe the same kind of value and differ, with the pointer of the new one."""
    left, right = unmatched_branches(spot)
    tagged = {tag(spot.old.document, branch): branch for branch in left}
    out = []
    for branch, at in right:
        label = tag(spot.new.document, branch)
        if label is not None and label in tagged:
            out.append((tagged[label], branch, at))
    if not out and len(left) == 1 and len(right) == 1:
        out.append((left[0], right[0][0], right[0][1]))
    return out


def unmatched_branches(spot: Spot) -> tuple[list[Any], list[tuple[Any, tuple[str, ...]]]]:
    """Branches of the old and of the new union without an equal one on the other side."""
    before = {_spelled(spot.old.document, branch): branch for branch in spot.old.branches}
    after = {_spelled(spot.new.document, branch): branch for branch in spot.new.branches}
    places: dict[str, tuple[str, ...]] = {
        exact.key(option): (word, str(index))
        for word in ("anyOf", "oneOf")
        for index, option in enumerate(spot.new.words.get(word, ()))
    }
    gone = [branch for text, branch in before.items() if text not in after]
    come = [(branch, places.get(exact.key(branch), ())) for text, branch in after.items() if text not in before]
    return gone, come


def _spelled(document: Document, branch: Any) -> str:
    found = document.find(branch["$ref"]) if isinstance(branch, dict) and isinstance(branch.get("$ref"), str) else None
    return exact.key([branch, found[0]] if found else branch)


def tag(document: Document, branch: Any) -> str | None:
    """What a branch of a union is told by: a constant property, else the name of its definition, else its type."""
    seen = view(document, branch, "")
    for key, schema in seen.properties.items():
        inner = view(document, schema, "").listed if isinstance(schema, dict) else None
        if inner is not None and len(inner) == 1:
            return f"{key}={exact.key(inner[0])}"
    if seen.reference is not None:
        return seen.reference
    return "type:" + ",".join(sorted(seen.types)) if seen.types else None
