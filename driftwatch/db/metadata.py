"""All tables in one place, for migrations and for tests that compare the two."""

import json

from sqlalchemy import DefaultClause
from sqlmodel import SQLModel

from driftwatch.alerts import quiet_tables as _quiet
from driftwatch.alerts import route_tables as _routes
from driftwatch.alerts import tables as _alerts
from driftwatch.db import tables as _installation
from driftwatch.history import evidence as _evidence
from driftwatch.history import search_tables as _search
from driftwatch.history import tables as _history
from driftwatch.scheduler import tables as _scheduler
from driftwatch.servers import tables as _servers
from driftwatch.web.auth import tables as _auth

# Importing a module of tables registers them; the tuple keeps linters from calling the imports unused.
ROOMS = (_installation, _servers, _scheduler, _history, _search, _evidence, _alerts, _quiet, _routes, _auth)

metadata = SQLModel.metadata


def _mirror_defaults() -> None:
    """Give every column whose model has a plain default the same default in the database.

    SQL written by hand (stores, tests) can then leave those columns out, and the two can never differ.
    """
    for mapper in SQLModel._sa_registry.mappers:
        model = mapper.class_
        for name, field in model.model_fields.items():
            column = mapper.columns[name]
            if column.server_default is not None or column.nullable:
                continue
            default = field.get_default(call_default_factory=True)
            if isinstance(default, str):
                column.server_default = DefaultClause(default)
            elif isinstance(default, int | float | dict):
                column.server_default = DefaultClause(json.dumps(default))


_mirror_defaults()
