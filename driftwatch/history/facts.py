"""The facts stored with a change: what people and policies may want to know besides the verdict. Pure.

Keys: ``sightings``, ``declared`` (listChanged when the change happened), ``server_version``, ``version_not_bumped``,
``within_ttl``, ``ttl_ms``, ``stale_until`` (a client that honours the old list's ttl and asked when we did uses it
until then), ``cache_scope`` (public: shared caches do as well), ``dialect_changed``, ``schema_id_kept``, ``noise``
(sdk-noise | volatile), ``volatile`` (pointers), ``rename_hint`` ({tool, score}), ``known_version`` (a definition that
was there before), ``transient`` (it undoes a change made less than a day before), ``mixed`` (how often two
alternated), ``replicas_differ`` (two still alternate after a day, and this one is the newest).
Keys are present only when they say something.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from driftwatch.capture.model import ToolDefinition
from driftwatch.capture.noise import dialect_changed, noise_class, schema_id_kept, volatile_paths
from driftwatch.errors import CaptureError
from driftwatch.history.ledger import Transition
from driftwatch.history.renames import renames

#: a change undone within this time was transient
TRANSIENT: Final = timedelta(days=1)
_LONGEST_TTL: Final = 10**12  # milliseconds; about 30 years


def before(state: Mapping[str, Any]) -> dict[str, Any]:
    """What to remember of a profile's hot row when a difference is first seen: the server as the old list had it."""
    kept = {
        "declared": state.get("list_changed_declared"),
        "server_version": _version(state.get("server_info")),
        "ttl_ms": state.get("ttl_ms"),
        "cache_scope": state.get("cache_scope"),
    }
    return {key: value for key, value in kept.items() if value is not None}


def of_transition(transition: Transition) -> dict[str, Any]:
    """What the ledger knows, and whether clients that honour the old list's ttl may still hold it."""
    facts: dict[str, Any] = {"sightings": transition.sightings}
    if transition.returns:
        facts["mixed"] = transition.returns
    if transition.replicas_differ:
        facts["replicas_differ"] = True
    ttl_ms, scope = transition.before.get("ttl_ms"), transition.before.get("cache_scope")
    start, end = transition.window
    stale_until = start + timedelta(milliseconds=min(ttl_ms or 0, _LONGEST_TTL))
    if end < stale_until:
        facts |= {"within_ttl": True, "ttl_ms": ttl_ms, "stale_until": stale_until.isoformat()}
        facts |= {"cache_scope": scope} if scope else {}
    return facts


def of_server(known: Mapping[str, Any], info: Mapping[str, Any] | None) -> dict[str, Any]:
    """What serverInfo says about the deploy. A missing bump is weak evidence: many servers show their SDK's version."""
    declared, old, new = known.get("declared"), known.get("server_version"), _version(info)
    facts: dict[str, Any] = {} if declared is None else {"declared": declared}
    if new:
        facts["server_version"] = new
    return facts | ({"version_not_bumped": True} if new and old == new else {})


def of_return(
    transition: Transition, version_id: int | None, past: Sequence[tuple[int | None, datetime]]
) -> dict[str, Any]:
    """Whether the definition was there before; ``past``: (version, current since), newest first, before the change."""
    facts: dict[str, Any] = {}
    if version_id is not None and any(version == version_id for version, _ in past):
        facts["known_version"] = True
    if len(past) >= 2 and past[1][0] == version_id and transition.window[1] - past[0][1] < TRANSIENT:
        facts["transient"] = True
    return facts


def of_definitions(old: ToolDefinition, new: ToolDefinition, earlier: Sequence[ToolDefinition]) -> dict[str, Any]:
    """What the two definitions say; ``earlier`` are those current before ``old``, oldest first."""
    read = [value for value in map(_read, (*earlier, old, new)) if value is not None]
    before, after = _read(old), _read(new)
    if before is None or after is None:
        return {}
    volatile = volatile_paths(read)
    noise = noise_class(before, after, volatile)
    facts: dict[str, Any] = {
        "dialect_changed": dialect_changed(before, after),
        "schema_id_kept": schema_id_kept(before, after),
        "noise": noise,
        "volatile": sorted(volatile)[:20] if noise == "volatile" else None,
    }
    return {key: value for key, value in facts.items() if value}


def of_renames(removed: Mapping[str, ToolDefinition], added: Mapping[str, ToolDefinition]) -> dict[str, dict[str, Any]]:
    """For each tool that may have been renamed, on both sides: the other name and the score."""
    hints: dict[str, dict[str, Any]] = {}
    for hint in renames(removed, added):
        score = round(hint.score, 2)
        hints[hint.old] = {"rename_hint": {"tool": hint.new, "score": score}}
        hints[hint.new] = {"rename_hint": {"tool": hint.old, "score": score}}
    return hints


def _version(info: Mapping[str, Any] | None) -> str | None:
    version = info.get("version") if isinstance(info, Mapping) else None
    return version if isinstance(version, str) and version else None


def _read(definition: ToolDefinition) -> Mapping[str, Any] | None:
    try:
        value = definition.parsed()
    except CaptureError:
        return None
    return value if isinstance(value, dict) else None
