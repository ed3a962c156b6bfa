"""What two sightings of a server say about a restart in between. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from driftwatch.wire.facts import EraFacts, Restart

# A session that is lost at once, again and again, says how the server is built and nothing about a restart.
MIN_POLLS_SURVIVED: Final = 3


def compare_facts(old: EraFacts, new: EraFacts, at: datetime) -> tuple[Restart, ...]:
    """Restart evidence from changed serverInfo and a changed protocol version; unknown serverInfo is none."""
    found = []
    if old.server_info is not None and new.server_info is not None and old.server_info != new.server_info:
        found.append(Restart(at, "server-info-changed", f"{_name(old)} → {_name(new)}"))
    if old.protocol_version != new.protocol_version:
        found.append(Restart(at, "versions-changed", f"{old.protocol_version} → {new.protocol_version}"))
    return tuple(found)


def lost_session(at: datetime, status: int | None, polls_survived: int) -> tuple[Restart, ...]:
    """Restart evidence from a lost session: only when it had survived at least three polls."""
    if polls_survived < MIN_POLLS_SURVIVED:
        return ()
    return (Restart(at, "session-lost", f"HTTP {status}" if status else None),)


def _name(facts: EraFacts) -> str:
    info = facts.server_info or {}
    return f"{info.get('name', '?')} {info.get('version', '')}".strip()
