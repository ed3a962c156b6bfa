"""What a poll is given and what it comes to. Pure data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from driftwatch.capture.model import Snapshot
from driftwatch.capture.said import said
from driftwatch.errors import DriftwatchError
from driftwatch.servers.sealed import SealedCredential
from driftwatch.wire.facts import Era, EraFacts, Listing, Restart

DueReason = Literal["schedule", "confirm", "check-now", "notification", "stream-ended", "first"]


@dataclass(frozen=True, slots=True)
class Claim:
    """A profile we hold the right to poll until ``token`` is taken away, with all that a poll needs to know.

    ``due_at`` is the due time as it was claimed: when the row says another time at the end, somebody asked anew.
    ``facts``: what the last complete poll knew; None before the first. ``detected``: what the last detection found.
    ``said``: the digest of what the server says of itself, as believed; ``order``: of the order of its list.
    """

    profile_id: int
    server_id: int
    era: Era
    token: UUID
    due_at: datetime | None
    due_reason: str
    interval: float
    failures: int
    state: str
    facts: EraFacts | None
    detected: EraFacts | None
    last_complete_sent_at: datetime | None
    polls_survived: int
    body_sha256: bytes | None
    fingerprint: bytes | None
    said: bytes | None = None
    order: bytes | None = None
    sealed_session: bytes | None = field(default=None, repr=False)

    @property
    def confirming(self) -> bool:
        """True when the list must be looked at on a new connection, even if nothing seems to have changed.

        So while differences wait for confirmation, and before the first complete poll.
        """
        return self.fingerprint is None or self.due_reason == "confirm"

    def saw(self, listing: Listing) -> bool:
        """True when the last poll saw these very bytes, and the server says the same of itself."""
        same = self.facts is not None and self.facts.beside_session == listing.facts.beside_session
        return same and not self.confirming and listing.body_sha256 == self.body_sha256

    def holds(self, snapshot: Snapshot, listing: Listing) -> bool:
        """True when these tools, and what the server says of itself, are what is believed."""
        same = not self.confirming and snapshot.fingerprint == self.fingerprint
        return same and said(listing).sha256 == self.said


@dataclass(frozen=True, slots=True)
class Visit:
    """One server and all its claimed profiles, polled together so that a changeset forms naturally.

    ``eras``: those a person chose, None for every one found. ``detected``: the eras were looked for within a day.
    ``spread``: a number in [0, 1) that keeps the server's profiles in step. ``credential``: what lets us in.
    """

    server_id: int
    url: str
    host: str
    eras: frozenset[Era] | None
    detected: bool
    spread: float
    claims: tuple[Claim, ...]
    credential: SealedCredential | None = None


@dataclass(frozen=True, slots=True)
class Complete:
    """A complete walk, about to be written. ``fingerprint`` None: differences are unconfirmed, look again next time.

    ``sealed_session``: the session to keep, encrypted; None keeps what is stored. ``detect``: look for eras anew.
    ``order``: of the list, where it was looked at.
    """

    claim: Claim
    listing: Listing
    body_sha256: bytes | None
    fingerprint: bytes | None
    next_in: float
    unchanged: bool
    due_reason: DueReason = "schedule"
    detect: bool = False
    order: bytes | None = None
    sealed_session: bytes | None = field(default=None, repr=False)

    @property
    def moved(self) -> bool:
        """True when the same tools came in another order than before."""
        before = self.claim.order
        known = before is not None and self.order is not None and self.claim.fingerprint is not None
        return known and before != self.order and self.fingerprint == self.claim.fingerprint

    @property
    def notified_at(self) -> datetime | None:
        """A list_changed on a reply, to be followed up by more looks.

        Not one that came with such a look: a server that notifies with every reply must not be polled without end.
        """
        told = self.listing.list_changed_at
        return max(told) if told and self.claim.due_reason != "notification" else None


@dataclass(frozen=True, slots=True)
class Failure:
    """A poll that proves nothing, about to be written. ``lost_session``: forget the kept session.

    ``detect``: the failure speaks of the protocol, not of an outage, so look for the eras anew.
    """

    claim: Claim
    code: str
    error: Mapping[str, Any]
    next_in: float
    duration_ms: float
    restart: Restart | None = None
    lost_session: bool = False
    detect: bool = False
    due_reason: DueReason = "schedule"


Result = Complete | Failure


def describe(error: DriftwatchError) -> dict[str, Any]:
    """An error as a profile's page shows it: {code, message, hint, status?, retry_after?, challenge?}."""
    described: dict[str, Any] = {"code": error.code, "message": error.message[:2000], "hint": error.hint}
    for name in ("status", "retry_after"):
        value = getattr(error, name, None)
        if value is not None:
            described[name] = value
    challenge = getattr(error, "challenge", None)
    return described if challenge is None else {**described, "challenge": challenge.shown()}
