"""What the classifier is asked and what it answered, through the tables and back."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from sqlmodel import func, select

from driftwatch.capture.model import Part
from driftwatch.classify.tool import Assessment, PartAssessment, assess
from driftwatch.classify.verdict import CLASSIFIER_VERSION, Finding
from driftwatch.history import read
from driftwatch.history.assessments import load_for_assessment, store_assessment
from driftwatch.history.tables import Assessment as AssessmentRow
from driftwatch.history.tables import ChangePart
from driftwatch.history.views import ChangeView
from driftwatch.wire.facts import Era

pytestmark = pytest.mark.oldest_postgres

World = Any  # conftest.py's; it cannot be imported from here


def tool(kind: Any) -> dict[str, Any]:
    result = {"type": "object", "properties": {"status": {"type": kind}}, "required": ["status"]}
    return {"name": "get_order", "inputSchema": {"type": "object"}, "outputSchema": result}


async def change(world: World) -> ChangeView:
    async with world.db.transaction() as session:
        return await read.load_change(session, 1)


async def test_a_real_answer_there_and_back(world: World) -> None:
    await world.poll(0, [tool("string")])
    await world.hold(60, [tool(["string", "null"])])
    async with world.db.transaction() as session:
        asked = await load_for_assessment(session, 1)
        assert asked is not None
        old, new, era, facts = asked
        assert old is not None
        assert new is not None
        assert (era, facts["sightings"]) == (Era.MODERN, 2)
        assert await store_assessment(session, 1, assess(old, new, era=era))
    found = await change(world)
    assert (found.verdict, found.part, found.state, found.via) == ("breaking", "output", "assessed", "declared")
    assert found.worst is not None
    assert found.worst.witness is not None
    assert found.worst.witness["value"]["status"] is None
    assert found.worst.findings


async def test_the_same_classifier_answers_once(world: World) -> None:
    await world.poll(0, [tool("string")])
    await world.hold(60, [tool("number")])
    answer = Assessment((PartAssessment(Part.OUTPUT, "undecided", reason="budget"),), "undecided", None, Part.OUTPUT)
    async with world.db.transaction() as session:
        assert await store_assessment(session, 1, answer)
        assert not await store_assessment(session, 1, answer)
        assert await load_for_assessment(session, 1) is None
    better = Assessment((PartAssessment(Part.OUTPUT, "compatible"),), "compatible", None, Part.OUTPUT)
    async with world.db.transaction() as session:
        assert await store_assessment(session, 1, better, classifier_version=f"{CLASSIFIER_VERSION}.1")
        assert (await session.exec(select(func.count()).select_from(AssessmentRow))).one() == 2
        assert (await session.exec(select(func.count()).select_from(ChangePart))).one() == 2
    found = await change(world)
    assert (found.verdict, [part.verdict for part in found.parts]) == ("compatible", ["compatible"])


async def test_values_that_json_readers_confuse_are_kept_apart(world: World) -> None:
    await world.poll(0, [tool("string")])
    await world.hold(60, [tool("number")])
    hostile = "a\x00b\ud800"
    findings = (
        Finding("output-null-added", "/a~1\x00", "breaking", "widens", hostile, witness=None, has_witness=True),
        Finding("default-changed", "", "annotation", "none", "m", witness=None, has_witness=False),
    )
    parts = (
        PartAssessment(
            Part.OUTPUT,
            "breaking",
            "declared",
            witness={"value": None},
            findings=findings,
            paths=({"path": "/a", "old": Decimal("0.1000000000000000055"), "new": hostile},),
            clients={"refusal": hostile},
        ),
        PartAssessment(Part.INPUT, "breaking", "unsafe-number", witness={"value": [2**64, Decimal("1.5")]}),
        PartAssessment(Part.PRESENCE, "breaking", None, witness={"absent": True}),
        PartAssessment(Part.TEXT, "compatible"),
    )
    async with world.db.transaction() as session:
        await store_assessment(session, 1, Assessment(parts, "breaking", "declared", Part.OUTPUT))
    output, input_, presence, text = (await change(world)).parts
    assert (output.witness, presence.witness, text.witness) == ({"value": None}, {"absent": True}, None)
    assert input_.witness == {"value": [2**64, 1.5]}
    assert output.paths == ({"path": "/a", "old": 0.1, "new": hostile},)
    assert [(found.pointer, found.message) for found in output.findings] == [("/a~1\x00", hostile), ("", "m")]
    assert output.clients == {"refusal": hostile}


async def test_additions_and_removals_have_one_side(world: World) -> None:
    await world.poll(0, [tool("string")])
    await world.hold(60, [])
    await world.hold(200, [tool("string")])
    async with world.db.transaction() as session:
        removed, restored = [await load_for_assessment(session, change_id) for change_id in (1, 2)]
        assert await load_for_assessment(session, 3) is None
    assert removed is not None
    assert restored is not None
    assert (removed.old is None, removed.new is None) == (False, True)
    assert (restored.old is None, restored.new is None) == (True, False)


async def test_an_answer_about_a_change_that_is_gone_is_dropped(world: World) -> None:
    async with world.db.transaction() as session:
        assert not await store_assessment(session, 9, Assessment((), "compatible", None, None))
