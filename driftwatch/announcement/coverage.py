"""How far a held stream proves that we were listening, and which notifications speak about a window."""

from __future__ import annotations

from collections.abc import Iterable

from driftwatch.announcement.evidence import Constants, Stream


def covered_until(streams: Iterable[Stream], moment: float) -> float | None:
    """The end of the verified coverage that includes ``moment``, overlapping intervals joined; None without any.

    An interval counts from its acknowledgement to the last byte received. One without a received byte proves nothing.
    """
    end: float | None = None
    for acked, verified in sorted((s.acked, s.verified_until) for s in streams if s.verified_until is not None):
        if end is None:
            end = verified if acked <= moment <= verified else None
        elif acked <= end:
            end = max(end, verified)
    return end


def explaining(window: tuple[float, float], notifications: Iterable[float], constants: Constants) -> tuple[float, ...]:
    """The notifications that a change in ``window`` spends: those inside it, else the one nearest to it in reach.

    In reach is [start - lead, end + lag]. A later change keeps what this one does not need.
    """
    start, end = window
    reach = [at for at in notifications if start - constants.lead <= at <= end + constants.lag]
    inside = [at for at in reach if start <= at <= end]
    nearest = min(reach, key=lambda at: max(start - at, at - end), default=None)
    return tuple(inside) or (() if nearest is None else (nearest,))
