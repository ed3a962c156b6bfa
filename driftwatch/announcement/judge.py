"""Was the change announced, and can we know? The seven rows, first hit wins."""

from __future__ import annotations

from driftwatch.announcement.coverage import covered_until
from driftwatch.announcement.evidence import DEFAULT_CONSTANTS, Constants, Evidence, Judgement


def judge(evidence: Evidence, constants: Constants = DEFAULT_CONSTANTS) -> Judgement:
    """The answer to one change window, with the number of the row that gave it.

    ``silent`` is said only where the server could have spoken to us and verifiably did not, or says itself that it
    never will; a gap of ours is ``unknown``.
    """
    start, end = evidence.window
    heard_from, heard_to = start - constants.lead, end + constants.lag
    if any(heard_from <= at <= heard_to for at in evidence.notifications):
        return Judgement("announced", None, None if evidence.declared else "undeclared", 1)
    restarted = any(start <= at <= end + constants.roll for at in evidence.restarts)
    until = covered_until(evidence.streams, heard_from)
    if _may_still_arrive(evidence, until, heard_to, constants):
        return Judgement("pending", None, None, 2)
    if not evidence.declared:
        return Judgement("silent", "restart" if restarted else "not-declared", None, 3)
    if evidence.listening == "cannot-deliver":
        return Judgement("silent", "restart" if restarted else "cannot-deliver", None, 4)
    if evidence.listening == "ok" and until is not None:
        if restarted and until >= start and _broken_by_restart(evidence, heard_from, until, constants):
            return Judgement("silent", "restart", None, 5)
        if until >= heard_to:
            return Judgement("silent", "restart" if restarted else "not-delivered", None, 6)
    return Judgement("unknown", None, "restarted" if restarted else None, 7)


def _may_still_arrive(evidence: Evidence, until: float | None, heard_to: float, constants: Constants) -> bool:
    held = evidence.listening == "ok" and any(stream.ended_by == "open" for stream in evidence.streams)
    complete = until is not None and until >= heard_to
    return held and not complete and evidence.now < heard_to + constants.pending_grace


def _broken_by_restart(evidence: Evidence, heard_from: float, until: float, constants: Constants) -> bool:
    """True when the server ended a stream inside the coverage that reaches the window, and showed a restart with it.

    Proxies cut streams all the time; a restart minutes later does not make that one the server's silence.
    """
    broken = [
        stream.verified_until
        for stream in evidence.streams
        if stream.ended_by == "server" and stream.verified_until is not None
    ]
    ends = [at for at in broken if heard_from <= at <= until]
    return any(abs(restart - at) <= constants.together for at in ends for restart in evidence.restarts)
