"""Claimed profiles → batches, one job each. A host stays in one batch as long as it fits. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Final

BATCH_SIZE: Final = 50


@dataclass(frozen=True, slots=True)
class Due:
    """A profile whose time has come. ``host`` is host:port."""

    profile_id: int
    server_id: int
    host: str
    due_at: datetime


def group(due: Iterable[Due], *, size: int = BATCH_SIZE) -> list[list[int]]:
    """Profile ids in batches of at most ``size``, the host that waits longest first.

    All profiles of a server are in one batch (a changeset forms naturally), and all of a host (one job keeps to its
    limit) unless the host alone is larger than a batch; then it is cut between servers.
    """
    batches: list[list[int]] = []
    for block in _blocks(due, size):
        if batches and len(batches[-1]) + len(block) <= size:
            batches[-1].extend(block)
        else:
            batches.append(list(block))
    return batches


def _blocks(due: Iterable[Due], size: int) -> list[Sequence[int]]:
    """Runs of profile ids that must not be torn apart, oldest first."""
    blocks: list[Sequence[int]] = []
    for host in _oldest_first(due, "host"):
        if len(host) <= size:
            blocks.append([d.profile_id for d in host])
            continue
        for server in _oldest_first(host, "server_id"):
            ids = [d.profile_id for d in server]
            blocks.extend(ids[i : i + size] for i in range(0, len(ids), size))
    return blocks


def _oldest_first(due: Iterable[Due], attribute: str) -> list[list[Due]]:
    ordered = sorted(due, key=lambda d: (getattr(d, attribute), d.due_at, d.profile_id))
    groups = [list(members) for _, members in groupby(ordered, key=lambda d: getattr(d, attribute))]
    return sorted(groups, key=lambda g: (g[0].due_at, g[0].profile_id))
