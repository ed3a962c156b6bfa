"""A watched world for page tests: real snapshots through the real ledger, classifier, judge and policy; no wire."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography.fernet import Fernet
from sqlalchemy import text

from driftwatch.alerts.tables import Channel
from driftwatch.app import Services
from driftwatch.capture.snapshot import take
from driftwatch.db.clock import DatabaseClock
from driftwatch.db.engine import Database, run_sql
from driftwatch.history.record import PolledProfile, record
from driftwatch.scheduler import assess
from driftwatch.scheduler.sandbox import Sandbox
from driftwatch.scheduler.tables import ProfileState
from driftwatch.servers.secrets import SecretBox
from driftwatch.servers.tables import Profile, Server
from driftwatch.settings import Settings
from driftwatch.web.auth import tokens
from driftwatch.wire.client import WireClient
from driftwatch.wire.facts import Era, EraFacts, Listing, Restart

VERSIONS = {Era.MODERN: "2026-07-28", Era.LEGACY: "2025-11-25"}
LONG_NAME = "create_or_update_customer_shipping_address_with_validation_and_geocoding_v2"
MARKUP_NAME = "<img src=x onerror=alert(1)>"
BIDI_NAME = "safe\u202egnp.exe"
HOSTILE_TEXT = "</td><script>alert(1)</script> {{ 7*7 }} \u200b\u2063 `code` & 'quotes' \"double\""

Definition = dict[str, Any]


def obj(required: Sequence[str] = (), **properties: Any) -> Definition:
    return {"type": "object", "properties": properties, "required": list(required)}


def tool(name: str, given: Definition | None = None, gives: Definition | None = None, says: str = "") -> Definition:
    found: Definition = {"name": name, "description": says or f"Does {name}.", "inputSchema": given or obj()}
    return found if gives is None else {**found, "outputSchema": gives}


TEXT = {"type": "string"}
OR_NULL = {"anyOf": [TEXT, {"type": "null"}]}
ITEM = obj(
    ["sku", "quantity", "state"],
    sku={**TEXT, "minLength": 3, "maxLength": 32},
    quantity={"type": "integer", "minimum": 1},
    state={"enum": ["open", "packed", "sent"]},
)
ITEMS = {"type": "array", "items": ITEM, "minItems": 1}
ORDER_INPUT = obj(["orderId"], orderId={**TEXT, "pattern": "^[A-Z]-[0-9]+$"}, locale={**TEXT, "default": "en"})
ORDER_OLD = obj(
    ["id", "status"], id=TEXT, status=TEXT, carrier=TEXT, items=ITEMS, placedAt={**TEXT, "format": "date-time"}
)
ORDER_NEW = obj(
    ["id", "status"],
    id=TEXT,
    status=OR_NULL,
    trackingUrl={**TEXT, "format": "uri"},
    items=ITEMS,
    placedAt={**TEXT, "format": "date-time"},
)
FILES = [
    *("read_text", "write_text", "append_text", "read_lines", "list_directory", "make_directory", "stat_path"),
    *("move_path", "copy_path", "delete_path", "glob_paths", "search_text", "watch_path"),
]


@asynccontextmanager
async def services_on(url: str, home: Path) -> AsyncIterator[Services]:
    """What every role works with, on a database; no role runs."""
    settings = Settings(
        home=home,
        allow_networks=("127.0.0.0/8",),
        confirm_seconds=(0.05, 0.1),
        removal_seconds=1,
        collect_seconds=0,
        announcement_lag_seconds=0.2,
        min_interval_seconds=1,
    )
    db = Database(url)
    clock = DatabaseClock(db)
    await clock.refresh()
    async with WireClient(settings, clock) as wire, Sandbox(settings) as sandbox:
        yield Services(settings, db, clock, wire, SecretBox([Fernet.generate_key()]), sandbox)
    await db.dispose()


@dataclass
class World:
    """Names lead to ids: ``servers["orders"]``, ``tools["orders", "get_order"]``, the same for ``changes``."""

    services: Services = field(repr=False)
    now: datetime
    token: str = ""
    servers: dict[str, int] = field(default_factory=dict)
    profiles: dict[tuple[str, Era], int] = field(default_factory=dict)
    tools: dict[tuple[str, str], int] = field(default_factory=dict)
    changes: dict[tuple[str, str], int] = field(default_factory=dict)
    changesets: dict[str, int] = field(default_factory=dict)
    alerts: dict[str, int] = field(default_factory=dict)

    async def watch(self, name: str, *eras: Era, **columns: Any) -> None:
        async with self.services.db.transaction() as session:
            server = Server(name=name, url=f"https://{name}.example.com/mcp", **columns)
            session.add(server)
            await session.flush()
            assert server.id is not None
            self.servers[name] = server.id
            for era in eras or (Era.MODERN, Era.LEGACY):
                profile = Profile(server_id=server.id, era=era)
                session.add(profile)
                await session.flush()
                assert profile.id is not None
                due = self.now + timedelta(minutes=3)
                session.add(ProfileState(profile_id=profile.id, host=f"{name}.example.com:443", next_due_at=due))
                self.profiles[name, era] = profile.id

    async def poll(
        self,
        name: str,
        tools: Iterable[Definition],
        ago: float,
        *,
        declared: bool = False,
        version: str = "2.3.1",
        notified: Sequence[float] = (),
        restarts: Sequence[float] = (),
        legacy: Iterable[Definition] | None = None,
    ) -> list[int]:
        """Every profile of the server sees these tools ``ago`` seconds before now; answers the changes.

        ``legacy``: what 2025-11-25 clients see, where it is something else.
        """
        seen = {Era.MODERN: tools, Era.LEGACY: tools if legacy is None else legacy}
        lists = {era: tuple(json.dumps(one).encode() for one in shown) for era, shown in seen.items()}
        found: list[int] = []
        for (owner, era), profile_id in self.profiles.items():
            if owner != name:
                continue
            sent = self.now - timedelta(seconds=ago)
            entries = lists[era]
            facts = EraFacts(
                era, VERSIONS[era], {"name": name, "version": version}, {"tools": {"listChanged": declared}}
            )
            listing = Listing(
                era=era,
                facts=facts,
                sent_at=sent,
                arrived_at=sent + timedelta(seconds=0.084),
                tools=entries,
                body_sha256=hashlib.sha256(b"\n".join(entries)).digest(),
                pages=1,
                size_bytes=sum(map(len, entries)),
                duration_ms=84,
                list_changed_at=tuple(self.now - timedelta(seconds=s) for s in notified),
                restarts=tuple(Restart(self.now - timedelta(seconds=s), "session-lost") for s in restarts),
            )
            async with self.services.db.transaction() as session:
                polled = PolledProfile(profile_id, fresh_connection=True)
                done = await record(session, polled, take(entries, era=era), listing, self.services.settings)
                values = {"at": listing.arrived_at, "id": profile_id}
                await run_sql(
                    session,
                    text(
                        "UPDATE profile_state SET last_poll_at = :at, state = 'ok', duration_ms = 84 "
                        "WHERE profile_id = :id"
                    ),
                    values,
                )
            found += done.changes
        return found

    async def hold(self, name: str, tools: Sequence[Definition], ago: float, **more: Any) -> None:
        """Poll until the change is believed, then assess, judge and alert."""
        changes: list[int] = []
        for later in (0.0, 2.0, 4.0):
            changes += await self.poll(
                name,
                tools,
                ago - later,
                **(
                    more
                    if later == 0
                    else {"declared": more.get("declared", False), "version": more.get("version", "2.3.1")}
                ),
            )
        assert changes, f"{name}: nothing changed"
        async with self.services.db.transaction() as session:
            await run_sql(
                session,
                text("UPDATE change SET recorded_at = now() - make_interval(secs => :ago) WHERE id = ANY(:ids)"),
                {"ago": ago, "ids": changes},
            )
        await assess.run(self.services, changes)
        opened = (
            "UPDATE alert a SET opened_at = c.recorded_at + interval '1 second' FROM change c "
            "WHERE c.changeset_id = a.changeset_id AND c.id = ANY(:ids)"
        )
        async with self.services.db.transaction() as session:
            await run_sql(session, text(opened), {"ids": changes})

    async def learn_ids(self) -> None:
        """Look up what the tests want to open."""
        async with self.services.db.transaction() as session:
            for query, into in (
                (
                    "SELECT s.name, t.name, t.id FROM tool t JOIN profile p ON p.id = t.profile_id "
                    "JOIN server s ON s.id = p.server_id ORDER BY p.era",
                    self.tools,
                ),
                (
                    "SELECT s.name, t.name, c.id FROM change c JOIN tool t ON t.id = c.tool_id "
                    "JOIN server s ON s.id = c.server_id ORDER BY c.id",
                    self.changes,
                ),
            ):
                for server, name, key in await run_sql(session, text(query)):
                    into[server, name] = key
            rows = await run_sql(
                session,
                text("SELECT s.name, max(c.id) FROM changeset c JOIN server s ON s.id = c.server_id GROUP BY s.name"),
            )
            self.changesets = {row[0]: row[1] for row in rows}
            rows = await run_sql(
                session,
                text("SELECT s.name, max(a.id) FROM alert a JOIN server s ON s.id = a.server_id GROUP BY s.name"),
            )
            self.alerts = {row[0]: row[1] for row in rows}


async def build(services: Services) -> World:
    """Ten servers in every state a page has to show."""
    async with services.db.transaction() as session:
        now: datetime = (await run_sql(session, text("SELECT clock_timestamp()"))).scalar_one()
        world = World(services, now, token=await tokens.issue_admin_token(session))
        ciphertext, _ = services.secrets.seal(b'{"url": "https://hooks.slack.com/services/T0/B0/x"}')
        session.add(Channel(name="#payments-alerts", kind="slack-webhook", config=ciphertext))
    await seed(world)
    await _deliver(world)
    await _count_polls(world)
    await world.learn_ids()
    return world


async def seed(world: World) -> None:
    """Everything but channels and what became of messages."""
    await _orders(world)
    await _crm(world)
    await _files(world)
    await _quiet_ones(world)
    await _two_kinds(world)
    await _unwatched_ones(world)
    await _listen(world)


@dataclass
class Template:
    """A seeded database and the world in it; copying it takes a moment, building it takes seconds."""

    server: Any
    name: str
    world: World

    @asynccontextmanager
    async def copy(self, home: Path) -> AsyncIterator[World]:
        """The same world in a database of its own."""
        name = self.server.create(template=self.name)
        async with services_on(self.server.url(name), home) as services:
            # its own names and ids too: a test may add to them
            yield replace(
                self.world,
                services=services,
                servers=dict(self.world.servers),
                profiles=dict(self.world.profiles),
                tools=dict(self.world.tools),
                changes=dict(self.world.changes),
                changesets=dict(self.world.changesets),
                alerts=dict(self.world.alerts),
            )
        self.server.drop(name)


@contextmanager
def seeded(server: Any, home: Path) -> Iterator[Template]:
    """Build the world once; ``server`` is the session's Postgres (tests/conftest.py)."""
    name = server.create(template=server.template)

    async def run() -> World:
        async with services_on(server.url(name), home) as services:
            return await build(services)

    yield Template(server, name, asyncio.run(run()))
    server.drop(name)


async def _orders(world: World) -> None:
    await world.watch("orders", owner="payments", tags=["prod", "vendor"])
    others = [tool(name) for name in ("list_orders", "cancel_order", "refund_order", LONG_NAME)]
    search = tool("search_orders", obj(["query"], query=TEXT), obj([], hits={"type": "array", "items": TEXT}))
    first = [tool("get_order", ORDER_INPUT, ORDER_OLD), search, *others]
    await world.poll("orders", first, 90 * 86400)
    wider = tool(
        "search_orders",
        obj(["query"], query=TEXT, limit={"type": "integer", "minimum": 1, "default": 20}),
        search["outputSchema"],
    )
    await world.hold("orders", [first[0], wider, *others], 49 * 86400)
    await world.poll("orders", [first[0], wider, *others], 430)
    await world.hold("orders", [tool("get_order", ORDER_INPUT, ORDER_NEW), wider, *others], 134, restarts=[290])


async def _crm(world: World) -> None:
    await world.watch("crm", Era.MODERN, owner="sales", tags=["prod"])
    old = tool("search", obj(["query"], query=TEXT), says="Finds customers.")
    new = tool("search", obj(["query", "region"], query=TEXT, region=TEXT), says="Finds customers of a region.")
    await world.poll("crm", [old], 9000, declared=True)
    await world.poll("crm", [old], 3900, declared=True)
    await world.hold("crm", [new], 3600, declared=True, notified=[3700])


async def _files(world: World) -> None:
    await world.watch("files", Era.MODERN, owner="platform", mode="pinned")
    empty = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    before = [tool(name, obj(["path"], path=TEXT)) for name in FILES]
    roots = tool("list_roots")
    await world.poll("files", [*before, roots], 20_000, version="1.8.0")
    await world.poll("files", [*before, roots], 11_300, version="1.8.0")
    await world.hold("files", [*({**one, "inputSchema": empty} for one in before), roots], 11_000, version="1.8.1")


async def _quiet_ones(world: World) -> None:
    await world.watch("weather", Era.MODERN)
    old = tool("forecast", obj(["city"], city=TEXT))
    await world.poll("weather", [old], 60 * 86400)
    await world.hold("weather", [old, tool("alerts")], 41 * 86400)
    await world.poll("weather", [old, tool("alerts")], 38)
    await world.watch("tickets", Era.LEGACY, tags=["vendor"])
    names = [MARKUP_NAME, BIDI_NAME, "assign", "gone_soon"]
    await world.poll("tickets", [tool(name) for name in names], 9 * 86400)
    hostile = [tool(name, says=HOSTILE_TEXT) for name in names[:3]]
    await world.hold("tickets", hostile, 3 * 86400, version=HOSTILE_TEXT)
    await world.poll("tickets", hostile, 21, version=HOSTILE_TEXT)


async def _two_kinds(world: World) -> None:
    await world.watch("rates", owner="finance")
    numbers = {"type": "array", "items": {"type": "number"}}
    wrapped = obj(["result"], result=numbers)
    modern = [tool("list_rates", gives=numbers), tool("convert", obj(["to"], to=TEXT)), tool("describe"), tool("ping")]
    legacy = [
        tool("list_rates", gives=wrapped),
        tool("convert", obj(["to", "from"], to=TEXT, **{"from": TEXT})),
        tool("describe", says="Describes, in other words."),
        tool("ping"),
    ]
    await world.poll("rates", modern, 400, legacy=legacy)
    await world.poll("rates", modern, 100, legacy=legacy)


async def _listen(world: World) -> None:
    """Streams as a listener would have written them: two months with a gap, an outage of ours, and now."""
    day = 86400.0
    held = [(80 * day, 41 * day, "server"), (39 * day, 12 * day, "us"), (11.5 * day, 3.0, "open")]
    async with world.services.db.transaction() as session:
        for start, end, ended in held:
            await run_sql(
                session,
                text(
                    "INSERT INTO stream_interval (profile_id, acked, verified_until, ended_by) "
                    "VALUES (:id, :acked, :until, :ended)"
                ),
                {
                    "id": world.profiles["crm", Era.MODERN],
                    "acked": world.now - timedelta(seconds=start),
                    "until": world.now - timedelta(seconds=end),
                    "ended": ended,
                },
            )


async def _unwatched_ones(world: World) -> None:
    await world.watch("billing", Era.MODERN, owner="payments")
    await world.watch("translations", state="paused")
    await world.poll("translations", [tool("translate")], 8 * 86400)
    await world.watch("internal-platform-observability-metrics-gateway-eu-central-1-blue", Era.LEGACY)
    error = {
        "code": "unauthorized",
        "message": "401, wants scope tools:read",
        "hint": "Set or renew the credential.",
        "status": 401,
    }
    async with world.services.db.transaction() as session:
        await run_sql(
            session,
            text(
                "UPDATE profile_state SET state = 'unauthorized', failures = 9, last_error = :error, "
                "failing_since = now() - interval '5 hours', last_poll_at = now() WHERE profile_id = :id"
            ),
            {"error": json.dumps(error), "id": world.profiles["billing", Era.MODERN]},
        )


async def _count_polls(world: World) -> None:
    """Two days of polls as the scheduler counts them, of what answers."""
    counted = (
        "INSERT INTO poll_rollup (profile_id, day, polls, unchanged, errors, ms_sum, ms_max) "
        "SELECT profile_id, current_date - back, 280, 274, 2, 278 * 84, 210 FROM profile_state, "
        "generate_series(0, 1) back WHERE state = 'ok' ON CONFLICT (profile_id, day) "
        "DO UPDATE SET polls = 280, unchanged = 274, errors = 2, "
        "ms_sum = 278 * 84, ms_max = 210"
    )
    async with world.services.db.transaction() as session:
        await run_sql(session, text(counted))


async def large(world: World) -> int:
    """One release that touches all of a server's 161 tools; answers the changeset."""
    await world.watch("commerce", Era.LEGACY, owner="platform", tags=["prod"])
    nouns = ("order", "invoice", "parcel", "customer", "refund", "price", "stock", "cart", "voucher", "return")
    verbs = ("get", "list", "create", "update", "cancel", "search", "export", "import", "archive", "restore", "merge")
    verbs = (*verbs, "split", "lock", "unlock", "approve", "reject", "tag")
    names = [f"{verb}_{noun}" for verb in verbs for noun in nouns][:161]
    old = obj(["id", "state"], id=TEXT, state=TEXT, total={"type": "number"})
    null, less = (
        obj(["id", "state"], id=TEXT, state=OR_NULL, total={"type": "number"}),
        obj(["id"], id=TEXT, state=TEXT),
    )
    wanted = obj(["id", "region"], id=TEXT, region=TEXT)
    before = [tool(name, obj(["id"], id=TEXT), old) for name in names]
    after = [
        tool(name, wanted if place % 9 == 4 else obj(["id"], id=TEXT), less if place % 5 == 1 else null)
        if place < 120
        else tool(name, obj(["id"], id=TEXT), old, says=f"Does {name.replace('_', ' ')}, now described better.")
        for place, name in enumerate(names)
    ]
    await world.poll("commerce", before, 9000, version="4.0.0")
    await world.hold("commerce", after, 5200, version="4.1.0")
    await _deliver(world)
    await world.learn_ids()
    return world.changesets["commerce"]


async def _deliver(world: World) -> None:
    """The channel answered to all but the newest message."""
    async with world.services.db.transaction() as session:
        await run_sql(
            session,
            text(
                "WITH sent AS (UPDATE outbox SET state = 'delivered', attempts = 1, delivered_at = now() "
                "WHERE state <> 'delivered' RETURNING id) "
                "INSERT INTO delivery_attempt (outbox_id, outcome, status, body, duration_ms) "
                "SELECT id, 'delivered', 200, 'ok', 61 FROM sent"
            ),
        )
