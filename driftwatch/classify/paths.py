"""What changed inside one part, as a short readable list of JSON pointers: deepdiff for people, never for verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from deepdiff import DeepDiff

from driftwatch.classify import exact
from driftwatch.classify.keywords import pointer

MAX_PATHS: Final = 200
_MAX_NODES: Final = 5_000
_MAX_DEPTH: Final = 64
_SHOWN: Final = 200
_KINDS: Final = {
    "dictionary_item_added": "added",
    "iterable_item_added": "added",
    "dictionary_item_removed": "removed",
    "iterable_item_removed": "removed",
    "values_changed": "changed",
    "type_changes": "changed",
}


def changed(old: Any, new: Any) -> tuple[Mapping[str, Any], ...]:
    """The changes from ``old`` to ``new`` (None: absent), at most MAX_PATHS, in document order.

    Each: ``pointer``, ``kind`` (added | removed | changed), and ``old`` / ``new`` where they are scalars (long text
    cut). A value too large or too deep for a structural diff gives the one path of the whole part.
    """
    if old is None or new is None:
        return ({"pointer": "", "kind": "added" if old is None else "removed"},)
    if exact.same(old, new):
        return ()
    if not (_small(old) and _small(new)):
        return ({"pointer": "", "kind": "changed"},)
    return tuple(sorted(_differences(old, new), key=lambda path: str(path["pointer"])))[:MAX_PATHS]


def _differences(old: Any, new: Any) -> Iterator[Mapping[str, Any]]:
    diff = DeepDiff(
        old, new, view="tree", ignore_numeric_type_changes=False, verbose_level=1, threshold_to_diff_deeper=0
    )
    for name, kind in _KINDS.items():
        for level in diff.get(name, ()):
            at = pointer(tuple(level.path(output_format="list")))
            if kind == "changed" and exact.same(level.t1, level.t2):
                continue
            yield {"pointer": at, "kind": kind, **_sides(level, kind)}


def _sides(level: Any, kind: str) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if kind != "added" and _scalar(level.t1):
        out["old"] = _cut(level.t1)
    if kind != "removed" and _scalar(level.t2):
        out["new"] = _cut(level.t2)
    return out


def _scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _cut(value: Any) -> Any:
    return value[: _SHOWN - 1] + "…" if isinstance(value, str) and len(value) > _SHOWN else value


def _small(value: Any) -> bool:
    pending: list[tuple[Any, int]] = [(value, 0)]
    seen = 0
    while pending:
        node, depth = pending.pop()
        seen += 1
        if seen > _MAX_NODES or depth > _MAX_DEPTH:
            return False
        if isinstance(node, dict | list):
            pending.extend((child, depth + 1) for child in (node.values() if isinstance(node, dict) else node))
    return True
