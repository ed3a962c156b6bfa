"""The first look at a server: which eras it speaks, and one complete poll of each. Stores nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from driftwatch.capture.model import Snapshot
from driftwatch.capture.said import said
from driftwatch.capture.snapshot import take
from driftwatch.errors import WireError
from driftwatch.servers.authorization import Authorization
from driftwatch.servers.model import FoundEra, FoundTool, Preview, Problem
from driftwatch.wire.client import WireClient
from driftwatch.wire.eras import Detection, detect
from driftwatch.wire.errors import EraNotSpokenError
from driftwatch.wire.facts import Era, Listing, Session, Target
from driftwatch.wire.session import close_session
from driftwatch.wire.walk import walk

#: of the whole deadline; the rest is for listing
DETECTION_SHARE: Final = 0.6
LEAST_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class Sight:
    """One era, seen completely."""

    listing: Listing
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class Look:
    """What was found. ``detection.found``: eras the server speaks; ``seen``: those whose tools could be listed too.

    ``unlisted``: why the tools of an era that is spoken could not be listed.
    """

    detection: Detection
    seen: Mapping[Era, Sight] = field(default_factory=dict)
    unlisted: Mapping[Era, WireError] = field(default_factory=dict)

    @property
    def problems(self) -> dict[Era, WireError]:
        """For every era that was not seen, why."""
        return {**self.detection.problems, **self.unlisted}

    @property
    def cause(self) -> WireError | None:
        """The most telling reason why nothing was seen; None when something was."""
        if self.seen:
            return None
        unlisted = next(iter(self.unlisted.values()), None)
        return unlisted or self.detection.failure or EraNotSpokenError("The server speaks none of the chosen eras.")

    @property
    def sessions(self) -> list[Session]:
        """Legacy sessions that the look opened and somebody must keep or close."""
        listed = [sight.listing.session for sight in self.seen.values()]
        spare = [facts.session for era, facts in self.detection.found.items() if era not in self.seen]
        return [session for session in (*listed, *spare) if session is not None]

    def preview(self, url: str) -> Preview:
        """What a person is shown."""
        problems = {
            era: Problem(e.code, e.message, e.hint, getattr(e, "challenge", None)) for era, e in self.problems.items()
        }
        return Preview(url, tuple(found(sight) for sight in self.seen.values()), problems)


def found(sight: Sight) -> FoundEra:
    """One era as a preview shows it, its tools by name."""
    facts, tools = sight.listing.facts, sight.snapshot.tools
    return FoundEra(
        era=sight.listing.era,
        protocol_version=facts.protocol_version,
        server_info=facts.server_info,
        list_changed_declared=facts.list_changed_declared,
        tools=tuple(
            FoundTool(name, "output" in tool.part_shas, None if tool.invalid is None else tool.invalid.message)
            for name, tool in sorted(tools.items())
        ),
        findings=(
            *said(sight.listing).findings,
            *sight.snapshot.findings,
            *(note for tool in tools.values() for note in tool.findings),
        ),
    )


async def look(client: WireClient, way_in: Authorization, wanted: frozenset[Era] | None) -> tuple[Look, Target]:
    """Detect the eras and poll each one found, all within one poll's deadline. Failures are in the answer.

    Beside it, the target as it was asked: with the token that was got for it.
    """
    try:
        target = await way_in.target()
    except WireError as error:
        problems = dict.fromkeys(wanted or frozenset(Era), error)
        return Look(Detection(problems=problems)), Target(way_in.url)
    seen = await _look(client, target, wanted)
    if seen.cause is not None and await way_in.renew(seen.cause):
        target = await way_in.target()
        seen = await _look(client, target, wanted)
    return seen, target


async def _look(client: WireClient, target: Target, wanted: frozenset[Era] | None) -> Look:
    end = time.monotonic() + client.settings.poll_timeout_seconds
    detection = await detect(client, target, wanted, seconds=DETECTION_SHARE * client.settings.poll_timeout_seconds)
    seen: dict[Era, Sight] = {}
    unlisted: dict[Era, WireError] = {}
    for era, facts in detection.found.items():
        try:
            listing = await walk(client, target, facts, seconds=max(end - time.monotonic(), LEAST_SECONDS))
        except WireError as error:
            unlisted[era] = error
        else:
            seen[era] = Sight(listing, await asyncio.to_thread(take, listing.tools, era=era))
    return Look(detection, seen, unlisted)


async def close_all(client: WireClient, target: Target, sessions: list[Session]) -> None:
    """End sessions that nobody keeps. Never fails."""
    await asyncio.gather(*(close_session(client, target, session) for session in sessions))
