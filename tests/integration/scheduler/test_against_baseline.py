"""A harmless step on top of an ignored break: against the accepted contract it breaks, and people hear of it."""

from __future__ import annotations

import json

import pytest
from builders.world import World
from sqlalchemy import text

from driftwatch.alerts import actions, transitive
from driftwatch.alerts.actions import By
from driftwatch.alerts.transitive import Against
from driftwatch.app import Services
from driftwatch.capture.snapshot import define
from driftwatch.scheduler import assess
from driftwatch.wire.facts import Era

TYPES = {1: ["string"], 2: ["string", "null"], 3: ["string", "null"], 4: ["string", "null"]}


class Definitions(World):
    """Versions with real definitions: v2 widens the result, v3 and v4 only change the description."""

    def body(self, tool: str, number: int) -> bytes:
        schema = {"properties": {"status": {"type": TYPES[number]}}, "required": ["status"], "type": "object"}
        extra = {"description": f"words {number}"} if number >= 3 else {}
        definition = {"inputSchema": {"type": "object"}, "name": tool, "outputSchema": schema} | extra
        return json.dumps(definition, sort_keys=True, separators=(",", ":")).encode()

    def part_shas(self, body: bytes) -> dict[str, str]:
        definition = define(body, Era.MODERN)
        assert definition is not None
        return {str(part): str(sha) for part, sha in definition.part_shas.items()}


async def prepare(services: Services, *, transitive_mode: bool = False, accepted: int = 1) -> tuple[World, int]:
    """v1 is accepted, v2 came and nobody was told; the id of the change to v3, not assessed yet."""
    world = Definitions(services)
    server = await world.server()
    await world.change(server, old=1, new=2, verdict="compatible", part="input")
    await world.raise_due()
    await world.sql("UPDATE server SET transitive = :on", on=transitive_mode)
    await world.sql(
        "INSERT INTO acceptance (tool_id, version_id, by, mode) SELECT tool_id, id, 'mei', 'person' FROM tool_version"
        " WHERE number = :accepted",
        accepted=accepted,
    )
    change = await world.change(server, old=2, new=3, verdict="compatible", part="text", state="recorded")
    for table in ("finding", "change_part", "assessment"):
        await world.sql(f"DELETE FROM {table}")
    await world.sql("UPDATE change SET state = 'recorded', announcement = NULL WHERE id = :id", id=change)
    return world, change


async def test_the_worst_since_the_baseline_decides(services: Services) -> None:
    world, change = await prepare(services)
    await assess._assess(services, change)
    async with world.db.engine.connect() as connection:
        (row,) = (await connection.execute(text("SELECT verdict, via FROM baseline_verdict"))).all()
    assert tuple(row) == ("breaking", "declared")
    await world.sql(
        "UPDATE change SET state = 'judged', announcement = 'silent', announcement_reason = 'not-declared'"
        " WHERE id = :id",
        id=change,
    )
    assert len(await world.raise_due()) == 1
    (alert,) = await world.alerts()
    assert alert.severity == "critical"


async def test_no_comparison_where_the_version_before_is_the_baseline(services: Services) -> None:
    world, change = await prepare(services, accepted=2)
    await assess._assess(services, change)
    async with world.db.engine.connect() as connection:
        assert (await connection.execute(text("SELECT count(*) FROM baseline_verdict"))).scalar_one() == 0


def test_the_worse_verdict_counts() -> None:
    undecided = Against(1, "undecided", None)
    assert transitive.worse(None, Against(1, "compatible", None)) is None
    assert transitive.worse(None, Against(1, "breaking", "undeclared-key")) is None
    assert transitive.worse(undecided, Against(2, "breaking", "declared")) == Against(2, "breaking", "declared")
    assert transitive.worse(Against(2, "invalid", None), undecided) == Against(2, "invalid", None)


@pytest.mark.parametrize(
    ("of_the_server", "of_the_tool", "verdicts"),
    [
        (True, None, [("breaking", 1)]),
        (False, None, []),
        (False, True, [("breaking", 1)]),
        (True, False, []),
    ],
)
async def test_transitive_mode_asks_every_version_since_the_baseline(
    services: Services, of_the_server: bool, of_the_tool: bool | None, verdicts: list[tuple[str, int]]
) -> None:
    """v2 is accepted, v1 was served for a while, then v3, now v4: clients that started in between hold v1."""
    world = Definitions(services)
    server = await world.server()
    await world.sql("UPDATE server SET transitive = :on", on=of_the_server)
    for old, new in ((2, 1), (1, 3)):
        await world.change(server, old=old, new=new, verdict="compatible", part="output")
    await world.sql(
        "INSERT INTO acceptance (tool_id, version_id, by, mode) SELECT tool_id, id, 'mei', 'person' FROM tool_version"
        " WHERE number = 2"
    )
    change = await world.change(server, old=3, new=4, verdict="compatible", part="text", state="recorded")
    for table in ("finding", "change_part", "assessment", "tool_interval"):
        await world.sql(f"DELETE FROM {table}")
    for hours, version in ((4, 2), (3, 1), (2, 3)):
        await world.sql(
            "INSERT INTO tool_interval (tool_id, version_id, valid_from, valid_to) SELECT tool_id, id,"
            " now() - make_interval(hours => :hours), now() - make_interval(hours => :hours - 1) FROM tool_version"
            " WHERE number = :version",
            hours=hours,
            version=version,
        )
    if of_the_tool is not None:
        async with services.db.transaction() as session:
            tool = (await session.execute(text("SELECT id FROM tool"))).scalar_one()
            await actions.choose_transitive(session, By("mei"), tool, of_the_tool)
    await assess._assess(services, change)
    query = (
        "SELECT b.verdict, v.number FROM baseline_verdict b JOIN tool_version v ON v.id = b.from_version_id"
        " WHERE b.change_id = :change"
    )
    async with world.db.engine.connect() as connection:
        found = (await connection.execute(text(query), {"change": change})).all()
    assert [tuple(row) for row in found] == verdicts
