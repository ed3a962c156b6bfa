"""A fair order of candidates: no source waits for another one to be exhausted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def in_turn(sources: Iterable[Iterable[T]]) -> Iterator[T]:
    """The first of every source, then the second of every source, and so on until all are exhausted."""
    running = [iter(source) for source in sources]
    while running:
        for source in list(running):
            try:
                yield next(source)
            except StopIteration:
                running.remove(source)
