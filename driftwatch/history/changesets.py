"""Which changes belong together: those of one server whose windows overlap are what one deploy did. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

Window = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class Group:
    """A changeset over the windows of its changes; ``id`` None: not stored yet."""

    id: int | None
    span: Window

    def takes(self, window: Window) -> bool:
        """True when a change in ``window`` may have happened together with this group. Windows are (start, end]."""
        return window[0] < self.span[1] and self.span[0] < window[1]

    def with_window(self, window: Window) -> Group:
        """The group with one more change."""
        return Group(self.id, (min(self.span[0], window[0]), max(self.span[1], window[1])))


def join(groups: Iterable[Group], windows: Sequence[Window]) -> tuple[list[Group], list[int]]:
    """Every window put into the newest group that overlaps it, else into a new one.

    Answers the groups (the given ones first, grown as needed) and for each window the index of its group. Groups
    that a window connects stay apart: people may have been told about each already.
    """
    found = list(groups)
    chosen = [0] * len(windows)
    for index in sorted(range(len(windows)), key=windows.__getitem__):
        window = windows[index]
        fitting = [place for place, group in enumerate(found) if group.takes(window)]
        if fitting:
            chosen[index] = max(fitting, key=lambda place: (found[place].span[1], place))
            found[chosen[index]] = found[chosen[index]].with_window(window)
        else:
            chosen[index] = len(found)
            found.append(Group(None, window))
    return found, chosen
