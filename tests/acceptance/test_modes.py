"""Servers that misbehave in one way each: what comes of it, by mode. None of them costs another one anything."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from acceptance.harness import HERE, Deployment, Service, eventually

BOTH = frozenset({"modern", "legacy"})
MODERN = frozenset({"modern"})
LEGACY = frozenset({"legacy"})
#: looks at a list before it is judged here
LOOKS = 3


@dataclass(frozen=True)
class Outcome:
    """What a mode comes to. ``tools``: how many are held in each era.

    ``refused``: eras in which a tool (name, code) is invalid; ``found``: the same for findings (name, rule), those of
    the list under ""; ``state``: how polls end.
    """

    tools: int = 2
    refused: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    found: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    state: str = "ok"
    listening: tuple[str, str] = ("cannot-deliver", "cannot-deliver")


#: nothing here names itself in the modern era
ALWAYS = {("", "no-server-version"): MODERN}

OUTCOMES: dict[str, Outcome] = {
    "vendor": Outcome(1),
    "nonobj_legacy": Outcome(refused={("arr", "output-root-not-object"): LEGACY}),
    "boolprop": Outcome(found={("b", "boolean-property"): BOTH}),
    "boolschema": Outcome(refused={("b", "output-schema-not-object"): BOTH}),
    "badtool": Outcome(refused={("noschema", "input-schema-missing"): BOTH}, found={("", "unusable-entry"): BOTH}),
    "reqnull": Outcome(refused={("reqnull", "input-schema-invalid"): BOTH}),
    "badheader": Outcome(refused={("hdr", "x-mcp-header-invalid"): MODERN}),
    "dup": Outcome(1, refused={("a", "conflicting-duplicates"): BOTH}),
    "shuffle": Outcome(20),
    "page": Outcome(7),
    "pagecut": Outcome(3),
    "pageerr": Outcome(0, state="incomplete-walk"),
    "loopcursor": Outcome(0, state="repeated-cursor"),
    "emptycursor": Outcome(4),
    "nullcursor": Outcome(2),
    "nottl": Outcome(found={("", "cache-hints"): MODERN}),
    "negttl": Outcome(found={("", "cache-hints"): MODERN}),
    "ttl": Outcome(),
    "private": Outcome(1),
    "caps": Outcome(1),
    "inputreq": Outcome(0, state="incomplete-walk"),
    "auth": Outcome(0, state="unauthorized"),
    "limit": Outcome(listening=("limit", "cannot-deliver")),
    "n20": Outcome(20),
    "instructed": Outcome(1, found={("", "hidden-characters"): BOTH}),
    # never the same twice: what is believed of these has tests of its own
    "flap": Outcome(5),
    "ttlflap": Outcome(),
    "html429": Outcome(),
}
RESTLESS = ("flap", "ttlflap", "html429")


class Modes:
    """Every mode registered at one driftwatch, and what became of it."""

    def __init__(self, service: Service, deployment: Deployment) -> None:
        self.service = service
        self.names: list[str] = deployment.asked("modes")["modes"]
        self.ids = {name: self._register(f"http://127.0.0.1:{deployment.port}/m/{name}", name) for name in self.names}

    def _register(self, url: str, name: str) -> int:
        body = {"url": url, "name": name, "interval_seconds": 1}
        server: int = self.service.post("/servers", body, status=201, force=True)["server"]["id"]
        return server

    def rows(self, name: str, what: str) -> list[dict[str, Any]]:
        """``what``: SELECT … FROM …, in which p is the profile."""
        statement = f"{what} JOIN profile p ON p.id = x.profile_id WHERE p.server_id = %(id)s"
        return self.service.rows(statement, id=self.ids[name])

    def looked_at(self, name: str) -> bool:
        """Whether both eras were polled often enough, and it is known whether we can listen."""
        state = "SELECT x.state, (SELECT sum(polls) FROM poll_rollup r WHERE r.profile_id = x.profile_id) AS polls"
        polled = self.rows(name, f"{state} FROM profile_state x")
        enough = all((row["polls"] or 0) >= (LOOKS if row["state"] == "ok" else 1) for row in polled)
        heard = {row["era"] for row in self.rows(name, "SELECT p.era, x.state FROM listening x")}
        return len(polled) == len(heard) == 2 and enough

    def states(self, name: str) -> dict[str, str]:
        """How the last poll of each era ended."""
        return {row["era"]: row["state"] for row in self.rows(name, "SELECT p.era, x.state FROM profile_state x")}

    def listening(self, name: str) -> tuple[str, ...]:
        """Whether we can listen, modern first."""
        newest = {row["era"]: row["state"] for row in self.rows(name, "SELECT p.era, x.state FROM listening x")}
        return newest["modern"], newest["legacy"]

    def held(self, name: str) -> list[dict[str, Any]]:
        """The current version of every tool."""
        return self.rows(
            name,
            "SELECT p.era, x.name, v.invalid, v.findings FROM tool x"
            " JOIN tool_interval i ON i.tool_id = x.id AND i.valid_to IS NULL"
            " JOIN tool_version v ON v.id = i.version_id",
        )

    def refused(self, name: str) -> dict[tuple[str, str], frozenset[str]]:
        """Invalid tools with their code, and the eras in which they are."""
        found = [(row["era"], row["name"], json.loads(row["invalid"])) for row in self.held(name) if row["invalid"]]
        return by_era((era, (tool, why["code"])) for era, tool, why in found)

    def found(self, name: str) -> dict[tuple[str, str], frozenset[str]]:
        """Findings of tools and of the list, and the eras in which they are."""
        lists = self.rows(name, "SELECT p.era, '' AS name, x.findings FROM snapshot x")
        rows = [(row, json.loads(row["findings"] or "[]")) for row in (*self.held(name), *lists)]
        return by_era((row["era"], (row["name"], note["rule"])) for row, notes in rows for note in notes)


def by_era(found: Iterator[tuple[str, tuple[str, str]]]) -> dict[tuple[str, str], frozenset[str]]:
    eras: dict[tuple[str, str], set[str]] = {}
    for era, what in found:
        eras.setdefault(what, set()).add(era)
    return {what: frozenset(those) for what, those in eras.items()}


@pytest.fixture(scope="module")
def modes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Modes]:
    """Every mode watched for a while."""
    folder = tmp_path_factory.mktemp("modes")
    deployment, service = Deployment(folder), Service(folder, None)
    try:
        deployment.deploy([sys.executable, str(HERE / "servers" / "modes_server.py"), "{port}"])
        service.start()
        watched = Modes(service, deployment)
        steady = [name for name in watched.names if name not in RESTLESS]
        eventually(lambda: all(map(watched.looked_at, steady)), because="every mode was looked at")
        yield watched
    finally:
        service.close()
        deployment.close()


def test_every_mode_has_its_outcome(modes: Modes) -> None:
    assert set(modes.names) == OUTCOMES.keys()


@pytest.mark.parametrize("name", [name for name in OUTCOMES if name not in RESTLESS])
def test_mode(modes: Modes, name: str) -> None:
    expected = OUTCOMES[name]
    assert modes.states(name) == {"modern": expected.state, "legacy": expected.state}
    tools = Counter(row["era"] for row in modes.held(name))
    assert (tools["modern"], tools["legacy"]) == (expected.tools, expected.tools)
    assert modes.refused(name) == expected.refused
    if expected.state == "ok":
        assert modes.found(name) == ALWAYS | expected.found
        assert modes.listening(name) == expected.listening
    assert modes.service.get("/changes", server=modes.ids[name])["items"] == []


def test_an_order_that_moves_is_counted_and_no_change(modes: Modes) -> None:
    moves = "SELECT x.order_moves FROM profile_state x"
    eventually(lambda: all(row["order_moves"] >= 3 for row in modes.rows("shuffle", moves)), because="it moved often")
    assert all(row["order_moves"] == 0 for row in modes.rows("n20", moves))


def test_what_alternates_is_mixed_and_no_change(modes: Modes) -> None:
    def mixed() -> set[str]:
        events = modes.rows("flap", "SELECT p.era, x.outcome FROM poll_event x")
        return {row["era"] for row in events if row["outcome"] == "mixed"}

    eventually(lambda: mixed() == BOTH, because="two definitions were seen to alternate")
    assert modes.service.get("/changes", server=modes.ids["flap"])["items"] == []
    assert Counter(row["era"] for row in modes.held("flap")) == {"modern": 5, "legacy": 5}


def test_a_tool_that_is_there_once_is_never_believed(modes: Modes) -> None:
    def removed() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = modes.service.get("/changes", server=modes.ids["ttlflap"])["items"]
        return found if len(found) == 2 else []

    # The first list is believed at once; its only tool is gone for good, and none of the others came twice.
    changes = eventually(removed, because="the first tool is gone in both eras")
    assert {change["kind"] for change in changes} == {"removed"}
    assert modes.held("ttlflap") == []


def test_a_rate_limit_is_no_removal(modes: Modes) -> None:
    def seen() -> bool:
        return "rate-limited" in {row["outcome"] for row in modes.rows("html429", "SELECT x.outcome FROM poll_event x")}

    eventually(seen, because="a poll met the limit")
    assert set(modes.states("html429").values()) <= {"ok", "rate-limited"}
    assert modes.service.get("/changes", server=modes.ids["html429"])["items"] == []
