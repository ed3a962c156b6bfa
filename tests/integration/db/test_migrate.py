"""The migrations against a real Postgres."""

from __future__ import annotations

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text

from driftwatch.db.engine import Database, raw_connection
from driftwatch.db.metadata import metadata
from driftwatch.db.migrate import check, connect, upgrade
from driftwatch.errors import DatabaseError

pytestmark = pytest.mark.oldest_postgres


def test_models_and_migrated_database_agree(database_url: str) -> None:
    with connect(database_url) as connection:
        connection.execute(text("SET search_path = public"))  # procrastinate's tables are its own business
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True, "target_metadata": metadata}
        )
        differences = [d for d in compare_metadata(context, metadata) if "alembic_version" not in str(d)]
    assert differences == []


def words(expression: str) -> list[str]:
    """A predicate without what Postgres adds when it prints one: casts, parentheses, ANY (ARRAY …) for IN."""
    plain = re.sub(r"::\w+(\[\])?|[()\[\]]", " ", expression.replace("= ANY", "IN").replace("ARRAY", ""))
    return plain.replace(",", " ").split()


def test_partial_indexes_agree(database_url: str) -> None:
    declared = {
        index.name: words(str(index.dialect_options["postgresql"]["where"]))
        for table in metadata.sorted_tables
        for index in table.indexes
        if index.dialect_options["postgresql"]["where"] is not None
    }
    with psycopg.connect(database_url) as connection:
        found = connection.execute(
            "SELECT indexrelid::regclass::text, pg_get_expr(indpred, indrelid) FROM pg_index JOIN pg_class c"
            " ON c.oid = indrelid WHERE indpred IS NOT NULL AND relnamespace = 'public'::regnamespace"
        ).fetchall()
    assert declared
    assert {name: words(predicate) for name, predicate in found} == declared


def test_storage_parameters_agree(database_url: str) -> None:
    declared = {
        table.name: {f"{name}={value}" for name, value in table.dialect_options["postgresql"]["with"].items()}
        for table in metadata.sorted_tables
        if table.dialect_options["postgresql"].get("with")
    }
    with psycopg.connect(database_url) as connection:
        found = connection.execute(
            "SELECT relname, reloptions FROM pg_class WHERE reloptions IS NOT NULL AND relkind = 'r'"
            " AND relnamespace = 'public'::regnamespace"
        ).fetchall()
    assert declared
    assert {name: set(options) for name, options in found} == declared


def test_upgrading_twice_changes_nothing(empty_database_url: str) -> None:
    upgrade(empty_database_url)
    with psycopg.connect(empty_database_url) as connection:
        connection.execute("INSERT INTO server (name, url) VALUES ('a', 'http://a.example/mcp')")
    upgrade(empty_database_url)
    with psycopg.connect(empty_database_url) as connection:
        assert connection.execute("SELECT count(*) FROM server").fetchone() == (1,)


def test_concurrent_upgrades_from_several_processes(empty_database_url: str) -> None:
    script = "import sys; from driftwatch.db.migrate import upgrade; upgrade(sys.argv[1])"
    commands = [[sys.executable, "-c", script, empty_database_url]] * 3
    with ThreadPoolExecutor() as pool:
        done = list(pool.map(lambda c: subprocess.run(c, capture_output=True, text=True, timeout=60), commands))
    assert [(d.returncode, d.stderr) for d in done] == [(0, "")] * 3
    check(empty_database_url)


def test_concurrent_upgrades_from_several_threads(empty_database_url: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(upgrade, [empty_database_url] * 4))
    check(empty_database_url)


def test_check_names_what_is_missing(empty_database_url: str) -> None:
    with pytest.raises(DatabaseError, match="revision none") as caught:
        check(empty_database_url)
    assert caught.value.hint == "Run: driftwatch db upgrade"


def test_a_database_of_a_newer_version_is_refused(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    for action in (check, upgrade):
        with pytest.raises(DatabaseError, match="9999"):
            action(database_url)


def test_a_failed_migration_leaves_nothing_behind(empty_database_url: str) -> None:
    with psycopg.connect(empty_database_url) as connection:
        connection.execute("CREATE SCHEMA jobs")  # the migration's own CREATE SCHEMA comes last and fails
    with pytest.raises(Exception, match="jobs"):
        upgrade(empty_database_url)
    with psycopg.connect(empty_database_url) as connection:
        assert connection.execute("SELECT to_regclass('server'), to_regclass('alembic_version')").fetchone() == (
            None,
            None,
        )


def test_an_unreachable_database_is_a_named_error() -> None:
    with pytest.raises(DatabaseError, match="cannot connect"):
        check("postgresql://nobody@127.0.0.1:1/none")


@pytest.mark.parametrize(
    "statement", ["UPDATE audit_log SET actor = 'x'", "DELETE FROM audit_log", "TRUNCATE audit_log"]
)
def test_the_audit_log_is_append_only(database_url: str, statement: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("INSERT INTO audit_log (actor, action, object) VALUES ('mei', 'accept', 'change 1')")
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="append only"):
            connection.execute(statement)
        assert connection.execute("SELECT actor FROM audit_log").fetchall() == [("mei",)]


async def test_our_tables_and_the_job_engine_have_a_schema_each(db: Database) -> None:
    async with db.transaction() as session:
        raw = await raw_connection(session)
        rows = await (
            await raw.execute("SELECT schemaname, tablename FROM pg_tables WHERE schemaname !~ '^(pg_|inf)'")
        ).fetchall()
    placed = {schema: {name for s, name in rows if s == schema} for schema, _ in rows}
    assert set(placed) == {"public", "jobs"}
    assert placed["public"] == {*metadata.tables, "alembic_version"}
    assert all(name.startswith("procrastinate_") for name in placed["jobs"])


async def test_jobs_can_be_deferred_through_the_product_connection(db: Database) -> None:
    async with db.transaction() as session:
        raw = await raw_connection(session)
        answer = await raw.execute(
            "SELECT procrastinate_defer_jobs_v1(ARRAY[ROW('polls', 'poll', 0, NULL, NULL, '{}', NULL)"
            "::procrastinate_job_to_defer_v1])"
        )
        assert (await answer.fetchone()) == ([1],)
