"""The client as a whole: one attribute for each noun of the API."""

from __future__ import annotations

from types import TracebackType

import httpx2

from driftwatch.client.alerts import Alerts
from driftwatch.client.changes import Changelog, Changes, Changesets
from driftwatch.client.channels import Channels, Deliveries, Routes
from driftwatch.client.connection import Connection
from driftwatch.client.contracts import Contracts, Rules
from driftwatch.client.fleet import Fleet
from driftwatch.client.quiet import Ignores, Maintenance, Mutes, Policy
from driftwatch.client.servers import Servers
from driftwatch.client.tools import Tools


class Client:
    """A running service at ``url``, asked with a token ``dw_…``."""

    def __init__(self, url: str, token: str, *, transport: httpx2.BaseTransport | None = None) -> None:
        self._connection = api = Connection(url, token, transport=transport)
        self.fleet = Fleet(api)
        self.servers = Servers(api)
        self.tools = Tools(api)
        self.changes = Changes(api)
        self.changesets = Changesets(api)
        self.changelog = Changelog(api)
        self.alerts = Alerts(api)
        self.channels = Channels(api)
        self.deliveries = Deliveries(api)
        self.routes = Routes(api)
        self.mutes = Mutes(api)
        self.ignores = Ignores(api)
        self.maintenance = Maintenance(api)
        self.policy = Policy(api)
        self.contracts = Contracts(api)
        self.rules = Rules(api)

    def __enter__(self) -> Client:
        """Keep connections open between questions."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close them."""
        self._connection.__exit__(kind, error, trace)
