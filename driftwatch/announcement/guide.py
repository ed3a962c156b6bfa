"""Where it says what a server's author can do, so that the next change is heard of."""

from __future__ import annotations

from typing import Final, get_args

from driftwatch.announcement.evidence import Reason

#: the pages inside the running service; docs/announce holds their text
GUIDE: Final = "/announce"


def how_to_announce(announcement: str | None, reason: str | None) -> str | None:
    """The path of what to do about an answer, for example ``/announce#not-declared``; None: nothing is to be done."""
    if announcement != "silent":
        return None
    return f"{GUIDE}#{reason}" if reason in get_args(Reason) else GUIDE
