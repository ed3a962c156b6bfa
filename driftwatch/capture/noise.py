"""Which changes of a definition are noise, and which places of a definition change by themselves.

``sdk-noise``: only the ``$schema`` marker or ``execution`` differ, as after an SDK update. ``volatile``: only
annotations differ that have changed again and again, such as a default that is the clock or is joined from a set.
Both keep their version and their bytes; they are for policies that decide who is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, Literal

from driftwatch.capture.digest import parts
from driftwatch.capture.model import Part
from driftwatch.capture.semantic import dialect_of, semantic_digest

NoiseClass = Literal["sdk-noise", "volatile"]

_SDK_PATHS: Final = frozenset({"/inputSchema/$schema", "/outputSchema/$schema"})


def noise_class(old: Mapping[str, Any], new: Mapping[str, Any], volatile: frozenset[str]) -> NoiseClass | None:
    """The noise class of the change between two parsed definitions; ``volatile`` as :func:`volatile_paths` found."""
    paths = set(changed_paths(old, new))
    if not paths:
        return None
    if all(path in _SDK_PATHS or path == "/execution" or path.startswith("/execution/") for path in paths):
        return "sdk-noise"
    return "volatile" if paths <= volatile else None


def dialect_changed(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """True when a schema that both definitions have declares another ``$schema``."""
    before, after = parts(old), parts(new)
    both = [part for part in (Part.INPUT, Part.OUTPUT) if part in before and part in after]
    return any(dialect_of(before[part]) != dialect_of(after[part]) for part in both)


def schema_id_kept(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """True when an output schema changed under an unchanged ``$id``: TypeScript clients keep the old validator."""
    before, after = parts(old).get(Part.OUTPUT), parts(new).get(Part.OUTPUT)
    if not isinstance(before, dict) or not isinstance(after, dict) or before == after:
        return False
    return isinstance(before.get("$id"), str) and before["$id"] == after.get("$id")


def volatile_paths(definitions: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """The places that change by themselves, from the definitions of one tool in the order they were current.

    A place counts when it changed at least twice and no change of it altered what a schema accepts.
    """
    changes: Counter[str] = Counter()
    for old, new in pairwise(definitions):
        if _same_meaning(old, new):
            changes.update(changed_paths(old, new))
    return frozenset(path for path, times in changes.items() if times >= 2)


def changed_paths(old: Any, new: Any, pointer: str = "") -> Iterator[str]:
    """JSON pointers of the smallest places where two values differ; a list that differs in length is one place."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old.keys() | new.keys():
            below = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
            if key in old and key in new:
                yield from changed_paths(old[key], new[key], below)
            else:
                yield below
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from changed_paths(before, after, f"{pointer}/{index}")
    elif type(old) is not type(new) or old != new:
        yield pointer


def _same_meaning(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    before, after = parts(old), parts(new)
    for part in (Part.INPUT, Part.OUTPUT):
        if (part in before) != (part in after):
            return False
        if part in before and semantic_digest(before[part]) != semantic_digest(after[part]):
            return False
    return True
