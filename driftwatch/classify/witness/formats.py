"""Strings of a witness that look like what their ``format`` announces, where the proof does not depend on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from driftwatch.classify.dialect import Schema
from driftwatch.classify.reading import Reading
from driftwatch.classify.witness.places import Places

#: a string of each format
SAMPLES: Final = {
    "date-time": "2026-01-01T00:00:00Z",
    "date": "2026-01-01",
    "time": "00:00:00Z",
    "duration": "P1D",
    "email": "a@example.com",
    "idn-email": "a@example.com",
    "hostname": "example.com",
    "idn-hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "uri-reference": "/a",
    "iri": "https://example.com/",
    "iri-reference": "/a",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "json-pointer": "/a",
    "relative-json-pointer": "0",
    "regex": "a",
}
_DEEPEST: Final = 12
Path = tuple[str | int, ...]


def dressed(writer: Reading, value: Any, holds: Callable[[Any], bool]) -> Any:
    """The witness with a sample in every string that has a known format, as long as ``holds`` stays true.

    ``writer``: the schema that accepts it. A witness is read by people, and some clients assert formats: it should not
    be refused for a reason beside the point.
    """
    if not _has_text(value) or writer.with_formats is None:
        return value
    for path, name in list(_formats(Places(writer.with_formats), [writer.with_formats.body], value, ())):
        other = _replaced(value, path, SAMPLES[name])
        if holds(other):
            value = other
    return value


def _has_text(value: Any) -> bool:
    if isinstance(value, dict | list):
        return any(map(_has_text, value.values() if isinstance(value, dict) else value))
    return isinstance(value, str)


def _formats(places: Places, schemas: list[Schema], value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if len(path) > _DEEPEST or not isinstance(value, str | dict | list):
        return
    judges = places.in_place(schemas)
    if isinstance(value, str):
        named = (judge.get("format") for judge in judges)
        known = next((name for name in named if isinstance(name, str) and name in SAMPLES), None)
        if known is not None:
            yield path, known
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _formats(places, places.member(judges, name), item, (*path, name))
    else:
        for index, item in enumerate(value):
            yield from _formats(places, places.item(judges, index), item, (*path, index))


def _replaced(value: Any, path: Path, part: Any) -> Any:
    if not path:
        return part
    if isinstance(value, dict):
        return {name: _replaced(item, path[1:], part) if name == path[0] else item for name, item in value.items()}
    return [_replaced(item, path[1:], part) if index == path[0] else item for index, item in enumerate(value)]
