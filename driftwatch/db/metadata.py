"""All tables in one place, for migrations and for tests that compare the two."""

from sqlmodel import SQLModel

from driftwatch.alerts import tables as _alerts
from driftwatch.history import evidence as _evidence
from driftwatch.history import tables as _history
from driftwatch.scheduler import tables as _scheduler
from driftwatch.servers import tables as _servers
from driftwatch.web.auth import tables as _auth

# Importing a module of tables registers them; the tuple keeps linters from calling the imports unused.
ROOMS = (_servers, _scheduler, _history, _evidence, _alerts, _auth)

metadata = SQLModel.metadata
