"""How long every page takes over two million versions: ``python benchmarks/pages.py [VERSIONS]`` prints a table.

A throw-away Postgres is filled by SQL: one server for every 1 000 versions, 20 tools each, a change for every version
but the first of a tool, spread over two years, with assessments, parts, findings and judgements; one more server
changed all its 161 tools fifteen times; 40 alerts are open. Times are those of the application in this process, without
a network. ``CPU`` is the least that a page cost, here and in Postgres together: on a machine that does other
things too it says more than the clock.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import httpx2
from cryptography.fernet import Fernet
from sqlalchemy import text

from driftwatch.app import Services
from driftwatch.db.clock import DatabaseClock
from driftwatch.db.embedded import EmbeddedPostgres
from driftwatch.db.engine import Database, run_sql
from driftwatch.db.migrate import upgrade
from driftwatch.scheduler.sandbox import Sandbox
from driftwatch.servers.secrets import SecretBox
from driftwatch.settings import Settings
from driftwatch.web.app import create_app
from driftwatch.web.auth import tokens
from driftwatch.wire.client import WireClient

FAST = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off", "shared_buffers": "512MB"}
TOOLS, VERSIONS = 20, 50
RUNS = 15
LIMIT_MS, LIMIT_KB = 60, 100


def definition(number: int) -> bytes:
    """A tool definition of ordinary size."""
    fields = {f"field_{i}": {"type": "string", "maxLength": 10 + number} for i in range(12)}
    schema = {"type": "object", "properties": fields, "required": ["field_0"]}
    whole = {"name": "tool", "description": f"Version {number}.", "inputSchema": schema, "outputSchema": schema}
    return json.dumps(whole, sort_keys=True, separators=(",", ":")).encode()


FILL = [
    "INSERT INTO server (name, url, owner, tags) SELECT 'server-' || i, 'https://s' || i || '.example.com/mcp', "
    "'team-' || i % 40, ARRAY['tag-' || i % 25, 'prod'] FROM generate_series(1, :servers) i",
    "INSERT INTO profile (server_id, era) SELECT id, 'modern' FROM server",
    "INSERT INTO profile_state (profile_id, host, state, tool_count, last_poll_at, next_due_at) "
    "SELECT id, 'h', 'ok', 20, now(), now() + interval '5 minutes' FROM profile",
    "INSERT INTO snapshot (profile_id, fingerprint, first_seen_at, tool_count) "
    "SELECT id, '\\x00', now() - interval '2 years', 20 FROM profile",
    "INSERT INTO tool (profile_id, name) SELECT p.id, 'tool_' || i || '_of_' || p.id FROM profile p, "
    "generate_series(1, :tools) i",
    "INSERT INTO tool_version (tool_id, number, definition_sha, part_shas, semantic_shas, created_at) "
    'SELECT t.id, n, b.sha, \'{"input": "\' || n || \'", "output": "\' || n || \'"}\', '
    "'{\"input\": \"' || n || '\", \"output\": \"' || n || '\"}', now() - (:versions - n) * interval '14 days' "
    "FROM generate_series(1, :versions) n JOIN tool t ON true JOIN shas b ON b.number = n",
    "INSERT INTO tool_interval (tool_id, version_id, window_start, valid_from, valid_to) "
    "SELECT tool_id, id, created_at - interval '5 minutes', created_at, "
    "CASE WHEN number < :versions THEN created_at + interval '14 days' END FROM tool_version",
    "INSERT INTO changeset (server_id, first_window_start, last_window_end) "
    "SELECT s.id, now() - (:versions - n) * interval '14 days', now() - (:versions - n) * interval '14 days' "
    "FROM generate_series(2, :versions) n, server s ORDER BY n, s.id",
    "INSERT INTO change (changeset_id, server_id, profile_id, tool_id, kind, from_version_id, to_version_id, "
    "window_start, window_end, facts, state, recorded_at, verdict, via, part, announcement, announcement_reason) "
    "SELECT (v.number - 2) * :servers + p.server_id, p.server_id, p.id, t.id, 'changed', w.id, v.id, "
    "v.created_at - interval '5 minutes', v.created_at, '{}', 'judged', v.created_at, "
    "(ARRAY['compatible','compatible','compatible','breaking','undecided'])[1 + v.id % 5], 'declared', 'output', "
    "(ARRAY['silent','unknown','announced'])[1 + v.id % 3], 'restart' "
    "FROM tool_version v JOIN tool_version w ON w.tool_id = v.tool_id AND w.number = v.number - 1 "
    "JOIN tool t ON t.id = v.tool_id JOIN profile p ON p.id = t.profile_id ORDER BY v.number, p.server_id, t.id",
    "INSERT INTO assessment (change_id, classifier_version) SELECT id, 'bench' FROM change ORDER BY id",
    "INSERT INTO change_part (assessment_id, part, verdict, via) "
    "SELECT a.id, 'output', c.verdict, 'declared' FROM assessment a JOIN change c ON c.id = a.change_id ORDER BY a.id",
    "INSERT INTO finding (change_part_id, rule, pointer, level, effect, message) SELECT p.id, "
    "CASE WHEN p.id % 5000 = 0 THEN 'output-union-branch-added' ELSE 'output-bounds-relaxed' END, "
    "'/properties/field_1', 'breaking', 'widens', '`field_1` may now be longer' FROM change_part p ORDER BY p.id",
    "INSERT INTO judgement (change_id, announcement, reason, rule, evidence) "
    "SELECT id, announcement, announcement_reason, 3, '{}' FROM change ORDER BY id",
    "INSERT INTO field_name (name) SELECT 'field_' || i FROM generate_series(0, 20000) i",
    "INSERT INTO tool_field (tool_id, field_id, part) SELECT t.id, f.id, 'output' FROM tool t "
    "JOIN field_name f ON f.id BETWEEN 1 AND 12 OR f.id = 13 + t.id % 19000",
    "INSERT INTO acceptance (tool_id, version_id, by, mode) SELECT tool_id, id, 'bench', 'first' FROM tool_version "
    "WHERE number = 1",
    # one server that changes all its tools at once, again and again
    "INSERT INTO server (name, url, tags) VALUES ('monolith', 'https://monolith.example.com/mcp', ARRAY['large'])",
    "INSERT INTO server (name, url, tags) VALUES ('quiet', 'https://quiet.example.com/mcp', ARRAY['quiet'])",
    "INSERT INTO profile (server_id, era) SELECT id, 'legacy' FROM server WHERE name IN ('monolith', 'quiet')",
    "INSERT INTO profile_state (profile_id, host, state, tool_count, last_poll_at) "
    "SELECT id, 'h', 'ok', 161, now() FROM profile WHERE era = 'legacy'",
    "INSERT INTO tool (profile_id, name) SELECT p.id, 'large_' || i FROM generate_series(1, 161) i, profile p "
    "JOIN server s ON s.id = p.server_id WHERE s.name = 'monolith'",
    "INSERT INTO tool_version (tool_id, number, definition_sha, part_shas, semantic_shas, created_at) "
    "SELECT t.id, n, b.sha, '{}', '{}', now() - (16 - n) * interval '1 minute' FROM generate_series(1, 16) n "
    "JOIN tool t ON t.name LIKE 'large%' JOIN shas b ON b.number = n",
    "INSERT INTO tool_interval (tool_id, version_id, valid_from, valid_to) SELECT tool_id, v.id, v.created_at, "
    "CASE WHEN number < 16 THEN v.created_at + interval '1 minute' END FROM tool_version v "
    "JOIN tool t ON t.id = v.tool_id WHERE t.name LIKE 'large%'",
    "INSERT INTO changeset (server_id, first_window_start, last_window_end) SELECT s.id, now(), now() "
    "FROM generate_series(1, 15), server s WHERE s.name = 'monolith'",
    "INSERT INTO change (changeset_id, server_id, profile_id, tool_id, kind, from_version_id, to_version_id, "
    "window_start, window_end, facts, state, recorded_at, verdict, via, part, announcement, announcement_reason) "
    "SELECT (SELECT min(id) FROM changeset WHERE server_id = p.server_id) + v.number - 2, p.server_id, p.id, t.id, "
    "'changed', w.id, v.id, v.created_at - interval '1 minute', v.created_at, '{}', 'judged', v.created_at, "
    "'breaking', 'declared', 'output', 'silent', 'restart' FROM tool_version v "
    "JOIN tool_version w ON w.tool_id = v.tool_id AND w.number = v.number - 1 "
    "JOIN tool t ON t.id = v.tool_id AND t.name LIKE 'large%' JOIN profile p ON p.id = t.profile_id ORDER BY v.number",
    "INSERT INTO assessment (change_id, classifier_version) SELECT c.id, 'bench' FROM change c "
    "JOIN server s ON s.id = c.server_id WHERE s.name = 'monolith' ORDER BY c.id",
    "INSERT INTO change_part (assessment_id, part, verdict, via) SELECT a.id, 'output', 'breaking', 'declared' "
    "FROM assessment a LEFT JOIN change_part p ON p.assessment_id = a.id WHERE p.id IS NULL ORDER BY a.id",
    "INSERT INTO finding (change_part_id, rule, pointer, level, effect, message) SELECT p.id, 'output-null-added', "
    "'/properties/field_1', 'breaking', 'widens', '`field_1` may now be null' FROM change_part p "
    "LEFT JOIN finding f ON f.change_part_id = p.id WHERE f.id IS NULL ORDER BY p.id",
    "INSERT INTO alert (kind, server_id, changeset_id, state, severity, title) SELECT 'drift', server_id, id, 'open', "
    "'critical', 'Silent breaking change' FROM changeset ORDER BY id DESC LIMIT 40",
    "INSERT INTO alert_decision (change_id, outcome, line, severity, path, alert_id) SELECT c.id, 'alert', "
    "'silent-break', 'critical', '[]', a.id FROM alert a JOIN change c ON c.changeset_id = a.changeset_id",
]


async def fill(db: Database, versions: int) -> None:
    """Fill an empty database."""
    servers = max(versions // (TOOLS * VERSIONS), 1)
    async with db.transaction() as session:
        await run_sql(session, text("CREATE TABLE shas (number int, sha bytea)"))
        for number in range(1, VERSIONS + 1):
            body = definition(number)
            sha = hashlib.sha256(body).digest()
            await run_sql(
                session, text("INSERT INTO blob (sha256, body) VALUES (:sha, :body)"), {"sha": sha, "body": body}
            )
            await run_sql(session, text("INSERT INTO shas VALUES (:number, :sha)"), {"number": number, "sha": sha})
    for statement in FILL:
        started = time.monotonic()
        async with db.transaction() as session:
            await run_sql(session, text("SET LOCAL session_replication_role = replica"))  # no foreign key checks
            given = {"servers": servers, "tools": TOOLS, "versions": VERSIONS}
            await run_sql(
                session, text(statement), {key: value for key, value in given.items() if f":{key}" in statement}
            )
        print(f"{time.monotonic() - started:6.1f} s  {statement[:60]}", file=sys.stderr, flush=True)
    async with db.engine.connect() as connection:
        await (await connection.execution_options(isolation_level="AUTOCOMMIT")).execute(text("VACUUM ANALYZE"))


async def cpu_seconds(db: Database) -> float:
    """What this process and its Postgres backends have used; no child is counted that answers somebody else."""
    async with db.transaction() as session:
        query = (
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'"
        )
        pids = (await run_sql(session, text(query))).scalars().all()
    return time.process_time() + sum(_process_seconds(pid) for pid in pids)


def _process_seconds(pid: int) -> float:
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


async def measure(services: Services) -> bool:
    """Print a line a page; True when all are within the limits."""
    async with services.db.transaction() as session:
        token = await tokens.issue_admin_token(session)
        change = (await run_sql(session, text("SELECT max(id) FROM change"))).scalar_one()
        deploy = (await run_sql(session, text("SELECT max(changeset_id) FROM change"))).scalar_one()
        monolith = (await run_sql(session, text("SELECT id FROM server WHERE name = 'monolith'"))).scalar_one()
    pages = {
        "overview": "/",
        "overview, one tag": "/?tag=tag-7",
        "search, many hits": "/?q=tool_1",
        "search, a field": "/?q=field_19",
        "search, nothing": "/?q=nothing-has-this",
        "server": "/servers/7",
        "server of 161 tools": f"/servers/{monolith}",
        "server, as of": "/servers/7/as-of?at=2026-06-01T00:00:00",
        "tool": "/tools/130?from=49&to=50",
        "tool, raw": "/tools/130?view=raw&from=49&to=50",
        "change": f"/changes/{change}",
        "changeset": f"/changesets/{deploy - 20}",
        "changeset of 161 tools": f"/changesets/{deploy}",
        "changelog": f"/changelog?before={deploy - 20}",
        "changelog, 15 times 161": "/changelog",
        "changelog, deep": f"/changelog?before={deploy // 2}",
        "changelog, breaking": "/changelog?verdict=breaking",
        "changelog, one tag": "/changelog?tag=tag-7",
        "changelog, a quiet tag": "/changelog?tag=quiet",
        "changelog, a rare era": "/changelog?era=legacy",
        "changelog, nothing fits": "/changelog?tag=tag-7&verdict=invalid&announcement=pending",
        "changelog, common rule": "/changelog?rule=output-bounds-relaxed",
        "changelog, rare rule": "/changelog?rule=output-union-branch-added",
        "changelog of a server": "/changelog?server=7",
        "rules": "/rules",
    }
    transport = httpx2.ASGITransport(app=create_app(services))
    good = True
    async with httpx2.AsyncClient(transport=transport, base_url="http://bench.test", timeout=120) as client:
        await client.post("/login", data={"token": token, "next": "/"})
        print(f"{'page':26} {'median':>8} {'best':>8} {'CPU':>8} {'size':>8}")
        for name, path in pages.items():
            answer = await client.get(path)  # the first one plans the statements
            spent, cost, size = [], [], 0
            for _ in range(RUNS):
                before, started = await cpu_seconds(services.db), time.perf_counter()
                answer = await client.get(path)
                spent.append((time.perf_counter() - started) * 1000)
                cost.append((await cpu_seconds(services.db) - before) * 1000)
                answer.raise_for_status()
                size = len(answer.content)
            median = statistics.median(spent)
            good &= median <= LIMIT_MS and size <= LIMIT_KB * 1000
            print(
                f"{name:26} {median:5.0f} ms {min(spent):5.0f} ms {min(cost):5.0f} ms {size / 1000:5.0f} kB", flush=True
            )
    return good


async def main(versions: int) -> bool:
    """Fill and measure."""
    with (
        tempfile.TemporaryDirectory(prefix="dw-", dir="/tmp") as home,
        EmbeddedPostgres(Path(home), settings=FAST) as pg,
    ):
        upgrade(pg.url)
        settings = Settings(home=Path(home))
        db = Database(pg.url)
        clock = DatabaseClock(db)
        await clock.refresh()
        await fill(db, versions)
        async with WireClient(settings, clock) as wire, Sandbox(settings) as sandbox:
            good = await measure(Services(settings, db, clock, wire, SecretBox([Fernet.generate_key()]), sandbox))
        await db.dispose()
        return good


if __name__ == "__main__":
    sys.exit(0 if asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000)) else 1)
