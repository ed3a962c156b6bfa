"""Schemas that were read before, for a process that is asked about the same versions again and again.

A stored version is compared when it comes, when it goes, with the baseline, and whenever a page shows it. What is made
of it (validator, node, normal form) depends on nothing else, so it is made once while it stays on the shelf.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final, NamedTuple

from driftwatch.classify import side
from driftwatch.classify.side import Side
from driftwatch.classify.verdict import DEFAULT_POLICY, Policy, Root

#: values and keys in all kept documents together; with everything made of them, 0.3 KiB each as measured
MOST_NODES: Final = 100_000
#: a larger document is not worth the place of so many others
_LARGEST: Final = 10_000


class Key(NamedTuple):
    """What a reading depends on: the canonical form of the schema (its sha256), and how it is read."""

    sha256: str
    root: Root
    policy: Policy


class Shelf:
    """The sides asked for last, bounded by their size; not for many threads."""

    def __init__(self, most_nodes: int = MOST_NODES) -> None:
        self._most = most_nodes
        self._kept: OrderedDict[Key, Side] = OrderedDict()
        self._nodes = 0

    def read(self, schema: Any, sha256: str | None, root: Root, policy: Policy = DEFAULT_POLICY) -> Side:
        """The side of ``schema``, whose canonical form has this digest (None: unknown, and never kept)."""
        found = None if sha256 is None else self._kept.get(Key(sha256, root, policy))
        return side.read(schema, None, root, policy) if found is None else found

    def keep(self, read: Side, sha256: str | None, root: Root, policy: Policy = DEFAULT_POLICY) -> None:
        """Keep a side whose question was decided: one on which work was broken off may be half made."""
        if sha256 is None or read.absent or read.nodes > _LARGEST:
            return
        key = Key(sha256, root, policy)
        if key not in self._kept:
            self._nodes += read.nodes
        self._kept[key] = read
        self._kept.move_to_end(key)
        while self._nodes > self._most:
            _, forgotten = self._kept.popitem(last=False)
            self._nodes -= forgotten.nodes

    def __len__(self) -> int:
        return len(self._kept)
