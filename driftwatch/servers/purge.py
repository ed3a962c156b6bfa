"""Removes what is left of deleted servers, in pieces small enough to disturb nobody. All SQL of it is here.

It is the one place that knows every table below a server; a test compares it with the foreign keys.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import TextClause, text

from driftwatch.db.engine import Database, run_sql

PIECE: Final = 1000

_PROFILES = "SELECT id FROM profile WHERE server_id = :server"
_TOOLS = f"SELECT id FROM tool WHERE profile_id IN ({_PROFILES})"  # noqa: S608 - constants only
_CHANGES = "SELECT id FROM change WHERE server_id = :server"
_ASSESSMENTS = f"SELECT id FROM assessment WHERE change_id IN ({_CHANGES})"  # noqa: S608 - constants only
_PARTS = f"SELECT id FROM change_part WHERE assessment_id IN ({_ASSESSMENTS})"  # noqa: S608 - constants only
_ALERTS = "SELECT id FROM alert WHERE server_id = :server"
_OUTBOX = f"SELECT id FROM outbox WHERE alert_id IN ({_ALERTS})"  # noqa: S608 - constants only

#: (table, which of its rows belong to the server), children before parents
ROWS: Final = (
    ("finding", f"change_part_id IN ({_PARTS})"),
    ("change_part", f"assessment_id IN ({_ASSESSMENTS})"),
    ("assessment", f"change_id IN ({_CHANGES})"),
    ("judgement", f"change_id IN ({_CHANGES})"),
    ("alert_decision", f"change_id IN ({_CHANGES})"),
    ("delivery_attempt", f"outbox_id IN ({_OUTBOX})"),
    ("outbox", f"alert_id IN ({_ALERTS})"),
    ("mute", "server_id = :server"),
    ("ignore_rule", "server_id = :server"),
    ("maintenance_window", "server_id = :server"),
    ("policy_change", "server_id = :server"),
    ("transitive_choice", "server_id = :server"),
    ("alert_thread", f"alert_id IN ({_ALERTS})"),
    ("baseline_verdict", f"change_id IN ({_CHANGES})"),
    ("alert_event", f"alert_id IN ({_ALERTS})"),
    ("alert", "server_id = :server"),
    ("change", "server_id = :server"),
    ("notification", f"profile_id IN ({_PROFILES})"),
    ("changeset", "server_id = :server"),
    ("acceptance", f"tool_id IN ({_TOOLS})"),
    ("tool_interval", f"tool_id IN ({_TOOLS})"),
    ("tool_version", f"tool_id IN ({_TOOLS})"),
    ("tool_field", f"tool_id IN ({_TOOLS})"),
    ("tool", f"profile_id IN ({_PROFILES})"),
    ("snapshot", f"profile_id IN ({_PROFILES})"),
    ("candidate", f"profile_id IN ({_PROFILES})"),
    ("stream_interval", f"profile_id IN ({_PROFILES})"),
    ("listening", f"profile_id IN ({_PROFILES})"),
    ("restart_evidence", f"profile_id IN ({_PROFILES})"),
    ("poll_event", f"profile_id IN ({_PROFILES})"),
    ("poll_rollup", f"profile_id IN ({_PROFILES})"),
    ("profile_state", f"profile_id IN ({_PROFILES})"),
    ("profile", "server_id = :server"),
    ("credential", "server_id = :server"),
    ("pushed_snapshot", "server_id = :server"),
    ("server", "id = :server"),
)

_DELETED = text("SELECT id FROM server WHERE state = 'deleted' ORDER BY id")
_UNLINK = text("UPDATE profile SET succeeds_profile_id = NULL WHERE server_id = :server")
_BLOBS = text("""
DELETE FROM blob WHERE ctid = ANY(ARRAY(
    SELECT b.ctid FROM blob b
    WHERE NOT EXISTS (SELECT 1 FROM tool_version v WHERE v.definition_sha = b.sha256)
      AND NOT EXISTS (SELECT 1 FROM tool_version v WHERE v.verbatim_sha = b.sha256)
    LIMIT :piece))
""")


def _delete(table: str, belongs: str) -> TextClause:
    piece = f"SELECT ctid FROM {table} WHERE {belongs} LIMIT :piece"  # noqa: S608 - constants only
    return text(f"DELETE FROM {table} WHERE ctid = ANY(ARRAY({piece}))")  # noqa: S608 - constants only


_STEPS: Final = tuple(_delete(table, belongs) for table, belongs in ROWS)


async def purge_deleted(db: Database, *, piece: int = PIECE) -> list[int]:
    """Remove every deleted server with all that belongs to it; answers their ids. The audit log keeps its rows."""
    async with db.transaction() as session:
        servers = list((await run_sql(session, _DELETED)).scalars())
    for server_id in servers:
        async with db.transaction() as session:
            await run_sql(session, _UNLINK, {"server": server_id})
        for step in _STEPS:
            await _in_pieces(db, step, piece, {"server": server_id})
    if servers:
        await _in_pieces(db, _BLOBS, piece, {})
    return servers


async def _in_pieces(db: Database, statement: TextClause, piece: int, parameters: dict[str, int]) -> None:
    while True:
        async with db.transaction() as session:
            removed = (await run_sql(session, statement, {**parameters, "piece": piece})).rowcount
        if removed < piece:
            return
