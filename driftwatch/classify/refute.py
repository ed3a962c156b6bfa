"""The second opinion on "contained": try to refute it. Shares nothing with the prover.

Valid values of the one schema are edited at a single point, with constants taken from both documents, and a validator
is asked about each edit. Finding nothing proves nothing; finding something stops a wrong answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import Any, Final

from driftwatch.classify.witness.formats import SAMPLES

#: edits tried per question where nothing else is asked
EDITS: Final = 300
_PLAIN: Final[tuple[Any, ...]] = (None, "", 0, {}, [], True, "a", 1, 0.5, -1)
_LONGEST: Final = 300
#: characters that engines disagree about: line ends, digits, spaces and letters of Unicode
_ODD: Final = ("\n", "a\n", "٣", "\u00a0", "é", "😀")
_NO_SYNTAX: Final = re.compile(r"\\[a-zA-Z]|[\\^$.*+?()[\]{}|]")
_DEEPEST: Final = 12
_MISSING: Final = object()

Judge = Callable[[Any], bool]
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Refutation:
    """A value that is accepted under the one schema and refused under the other."""

    value: Any


@dataclass(frozen=True, slots=True)
class Hints:
    """What two documents mention: values worth trying at any point, and keys worth adding."""

    values: tuple[Any, ...]
    keys: tuple[str, ...]


def refute(
    seeds: Iterable[Any], hints: Hints, *, accepts: Judge, refuses: Judge, limit: int = EDITS
) -> Refutation | None:
    """The first seed or single-point edit of a seed that is accepted and refused; at most ``limit`` are tried.

    ``accepts`` and ``refuses`` ask a validator, in each document's own dialect.
    """
    held = list(seeds)
    edited = (_edits(seed, hints) for seed in held)
    for value in islice(_in_turn([iter(held), *edited]), limit):
        if refuses(value) and accepts(value):
            return Refutation(value)
    return None


def hints(*schemas: Any) -> Hints:
    """Constants, limits, lengths and property names of the documents, each with its neighbours."""
    values: dict[str, Any] = {repr(value): value for value in _PLAIN}
    keys: dict[str, None] = {}
    todo: list[Any] = list(schemas)
    while todo:
        node = todo.pop()
        if isinstance(node, list):
            todo.extend(node)
        if not isinstance(node, dict):
            continue
        for keyword, value in node.items():
            for hint in _from_keyword(keyword, value):
                values.setdefault(repr(hint), hint)
            if keyword == "patternProperties" and isinstance(value, dict):
                keys.update(dict.fromkeys(key for pattern in value for key in _like(pattern)))
            if keyword in ("properties", "dependentRequired", "dependentSchemas", "dependencies"):
                keys.update(dict.fromkeys(value if isinstance(value, dict) else ()))
            elif keyword == "required" and isinstance(value, list):
                keys.update(dict.fromkeys(name for name in value if isinstance(name, str)))
            todo.append(value)
    return Hints(tuple(values.values()), (*keys, "zz"))


def _from_keyword(keyword: str, value: Any) -> Iterator[Any]:
    if keyword == "enum" and isinstance(value, list):
        yield from value
    elif keyword in ("const", "default"):
        yield value
    elif keyword == "format" and value in SAMPLES:
        yield SAMPLES[value]
    elif keyword == "pattern" and isinstance(value, str):
        yield from (*_like(value), *_ODD)
    elif isinstance(value, bool) or not isinstance(value, int | float):
        return
    elif keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"):
        yield from (value, value + 1, value - 1, value + 0.5, value * 2)
    elif keyword in ("minLength", "maxLength"):
        yield from ("a" * length for length in (int(value) - 1, int(value), int(value) + 1) if 0 <= length <= _LONGEST)
    elif keyword in ("minItems", "maxItems", "minContains", "maxContains"):
        yield from (list(range(int(value) + more)) for more in (-1, 1) if int(value) < _LONGEST)


def _like(pattern: str) -> Iterator[str]:
    """The characters a pattern is written with, together, after another one, and each alone: some may match."""
    letters = _NO_SYNTAX.sub("", pattern)[:_LONGEST]
    yield from (letters, f"a{letters}", *dict.fromkeys(letters[:8]))


def _edits(seed: Any, known: Hints) -> Iterator[Any]:
    """Single-point edits of a value; every point gets its turn before any point gets a second one."""
    points = [_at_point(part, known) for _, part in _points(seed)]
    paths = [path for path, _ in _points(seed)]
    return (_replaced(seed, path, part) for path, part in _labelled(paths, points))


def _labelled(paths: list[Path], points: list[Iterator[Any]]) -> Iterator[tuple[Path, Any]]:
    for row in zip_longest(*points, fillvalue=_MISSING):
        yield from ((path, part) for path, part in zip(paths, row, strict=True) if part is not _MISSING)


def _points(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    yield path, value
    if len(path) < _DEEPEST:
        if isinstance(value, dict):
            for key, item in value.items():
                yield from _points(item, (*path, key))
        elif isinstance(value, list):
            for index, item in enumerate(value):
                yield from _points(item, (*path, index))


def _at_point(part: Any, known: Hints) -> Iterator[Any]:
    sources: list[Iterator[Any]] = [iter(known.values)]
    if isinstance(part, dict):
        sources.insert(0, ({name: item for name, item in part.items() if name != gone} for gone in part))
        new = [key for key in known.keys if key not in part]
        sources.insert(1, ({**part, key: value} for value in known.values for key in new))
    elif isinstance(part, list):
        sources.insert(0, iter([part[:-1], part + part, part[1:]]))
        sources.insert(1, ([*part, *more] for value in known.values for more in ([value], [value, value])))
    return _in_turn(sources)


def _in_turn(sources: list[Iterator[Any]]) -> Iterator[Any]:
    for row in zip_longest(*sources, fillvalue=_MISSING):
        yield from (value for value in row if value is not _MISSING)


def _replaced(value: Any, path: Path, part: Any) -> Any:
    if not path:
        return part
    if isinstance(value, dict):
        return {**value, path[0]: _replaced(value[path[0]], path[1:], part)}
    return [_replaced(item, path[1:], part) if index == path[0] else item for index, item in enumerate(value)]
