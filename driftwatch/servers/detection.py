"""What an era detection found becomes profiles: every era found (or chosen) is watched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.servers import store
from driftwatch.servers.credential_store import credential_of
from driftwatch.wire.eras import Detection
from driftwatch.wire.errors import EndpointNotFoundError, NotMcpError
from driftwatch.wire.facts import Era, EraFacts, Session, Transport

#: answers that say an era is not there; everything else says that we could not know
_ABSENT: Final = (NotMcpError, EndpointNotFoundError)


async def keep(session: AsyncSession, server_id: int, detection: Detection) -> list[int]:
    """Store what was found; open profiles for eras that are not watched yet. Answers the new profiles' ids.

    A profile that was opened before the server could be reached, and whose era turned out not to be spoken, closes.
    One that was ever seen or chosen stays: that its era is not spoken is what people want to hear.
    """
    server = await store.get_server(session, server_id, lock=True)
    await store.save_detection(session, server_id, as_json(detection))
    watched = await store.watched_profiles(session, server_id)
    wrong = [
        state.profile_id
        for profile, state in watched
        if server.eras is None
        and state.last_complete_sent_at is None
        and isinstance(detection.problems.get(Era(profile.era)), _ABSENT)
    ]
    await store.close_profiles(session, wrong)
    wanted = detection.found.keys() if server.eras is None else detection.found.keys() & set(server.eras)
    credential = await credential_of(session, server_id)
    opened = [
        await store.open_profile(session, server, era, credential=credential)
        for era in sorted(wanted - {Era(profile.era) for profile, _ in watched})
    ]
    if server.state != "active":
        await store.make_not_due(session, server_id)
    return opened


def as_json(detection: Detection) -> dict[str, Any]:
    """What is stored of a detection: {found: {era: facts}, problems: {era: {code, message}}}. No session ids."""
    return {
        "found": {era: _facts_json(facts) for era, facts in detection.found.items()},
        "problems": {era: {"code": e.code, "message": e.message} for era, e in detection.problems.items()},
    }


def _facts_json(facts: EraFacts) -> dict[str, Any]:
    return {
        "protocol_version": facts.protocol_version,
        "server_info": None if facts.server_info is None else dict(facts.server_info),
        "capabilities": dict(facts.capabilities),
        "instructions": facts.instructions,
        "transport": None if facts.session is None else facts.session.transport,
    }


def facts_of(stored: Mapping[str, Any] | None, era: Era) -> EraFacts | None:
    """The facts that a stored detection holds about an era; without a session, so that a poll opens its own."""
    found = (stored or {}).get("found", {}).get(era)
    if found is None:
        return None
    version = found["protocol_version"]
    # The older transport cannot be told from the outside, so the facts must carry it.
    by_sse = found["transport"] == Transport.HTTP_SSE
    session = Session(None, version, Transport.HTTP_SSE) if by_sse else None
    return EraFacts(era, version, found["server_info"], found["capabilities"], found["instructions"], session)
