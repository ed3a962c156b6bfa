"""Alembic's entry: `driftwatch db upgrade` hands over a connection; `alembic revision --autogenerate` brings none."""

import os

from alembic import context
from driftwatch.db.metadata import metadata
from driftwatch.db.migrate import connect


def is_ours(name, kind, parents) -> bool:
    """The schema jobs is on the search path, but its tables are procrastinate's business."""
    return not (kind == "table" and name.startswith("procrastinate_"))


OPTIONS = {
    "target_metadata": metadata,
    "compare_type": True,
    "compare_server_default": True,
    "include_name": is_ours,
}


def run(connection) -> None:
    context.configure(connection=connection, **OPTIONS)
    with context.begin_transaction():
        context.run_migrations()


if context.is_offline_mode():
    raise SystemExit("driftwatch's migrations need a connection: part of their SQL comes from procrastinate")

given = context.config.attributes.get("connection")
if given is not None:
    run(given)
else:
    with connect(os.environ["DRIFTWATCH_DATABASE_URL"]) as own:
        run(own)
