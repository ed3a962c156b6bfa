"""Smaller witnesses read better: members and items go, scalars become plain, as long as the proof holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

_ATTEMPTS: Final = 400


def shrink(value: Any, holds: Callable[[Any], bool], *, attempts: int = _ATTEMPTS) -> Any:
    """The smallest value reachable by single reductions for which ``holds`` is true; it must be true for ``value``."""
    left = attempts
    current = value
    improved = True
    while improved and left > 0:
        improved = False
        for smaller in reductions(current):
            left -= 1
            if holds(smaller):
                current = smaller
                improved = True
                break
            if left <= 0:
                break
    return current


def reductions(value: Any) -> Iterator[Any]:
    """Values one step simpler, the boldest first."""
    match value:
        case dict():
            yield from _smaller_objects(value)
        case list():
            yield from _smaller_arrays(value)
        case str() if value:
            yield from _smaller_strings(value)
        case bool() | None:
            return
        case int() if abs(value) > 1:
            yield from (0, 1, value // 10 if value > 0 else -(-value // 10))
        case float() if not value.is_integer():
            yield from (0.5, float(round(value)))


def _smaller_objects(value: dict[str, Any]) -> Iterator[Any]:
    if len(value) > 3:
        names = list(value)
        for kept in (names[: len(names) // 2], names[len(names) // 2 :]):
            yield {name: value[name] for name in kept}
    for name in value:
        yield {other: item for other, item in value.items() if other != name}
    for name, item in value.items():
        for smaller in reductions(item):
            yield {**value, name: smaller}


def _smaller_arrays(value: list[Any]) -> Iterator[Any]:
    if len(value) > 3:
        yield value[: len(value) // 2]
        yield value[len(value) // 2 :]
    for index in range(min(len(value), 32)):
        yield value[:index] + value[index + 1 :]
    for index, item in enumerate(value[:32]):
        for smaller in reductions(item):
            yield [*value[:index], smaller, *value[index + 1 :]]


def _smaller_strings(value: str) -> Iterator[str]:
    if value != "a":
        yield ""
    if len(value) > 1:
        yield from ("a", value[: len(value) // 2], value[1:], value[:-1])
