"""The refuter finds planted wrong answers, and only real ones."""

from __future__ import annotations

from typing import Any

import pytest
from builders.schemas import validator

from driftwatch.classify.refute import Hints, hints, refute

ISSUE = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "maxLength": 5},
        "state": {"enum": ["open", "closed"]},
        "count": {"type": "integer", "minimum": 1},
        "labels": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        "who": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    },
    "required": ["title", "who"],
}
SEED = {"title": "", "state": "open", "count": 1, "labels": ["x"], "who": {"name": "n"}}


def edited(**properties: Any) -> dict[str, Any]:
    return {**ISSUE, "properties": {**ISSUE["properties"], **properties}}


def against(sub: Any, sup: Any, limit: int = 300) -> Any:
    accepting, refusing = validator(sub, "2020-12"), validator(sup, "2020-12")
    found = refute(
        [SEED],
        hints(sub, sup),
        accepts=accepting.is_valid,
        refuses=lambda value: not refusing.is_valid(value),
        limit=limit,
    )
    if found is not None:
        assert accepting.is_valid(found.value)
        assert not refusing.is_valid(found.value)
    return found


@pytest.mark.parametrize(
    "narrower",
    [
        edited(title={"type": "string", "maxLength": 4}),
        edited(state={"enum": ["open"]}),
        edited(count={"type": "integer", "minimum": 2}),
        edited(labels={"type": "array", "items": {"type": "string"}, "maxItems": 1}),
        edited(labels={"type": "array", "items": {"type": "string", "minLength": 1}}),
        edited(who={"type": "object", "properties": {"name": {"type": "string", "minLength": 1}}}),
        edited(fresh={"type": "string"}),
        {**ISSUE, "required": ["title", "who", "state"]},
        {**ISSUE, "additionalProperties": False},
        {**ISSUE, "maxProperties": 4},
    ],
    ids=str,
)
def test_a_wrong_proof_is_refuted(narrower: Any) -> None:
    assert against(ISSUE, narrower) is not None


def test_a_right_proof_is_not() -> None:
    assert against(ISSUE, ISSUE) is None
    assert against(ISSUE, {"type": "object"}) is None
    assert against({**ISSUE, "additionalProperties": False}, ISSUE) is None


def test_the_number_of_edits_is_bounded() -> None:
    asked: list[Any] = []

    def refuses(value: Any) -> bool:
        asked.append(value)
        return False

    assert refute([SEED], Hints((1, 2), ("a", "b")), accepts=lambda _: True, refuses=refuses, limit=25) is None
    assert len(asked) == 25


def test_null_is_a_refutation_too() -> None:
    found = refute([None], Hints((), ()), accepts=lambda _: True, refuses=lambda value: value is None)
    assert found is not None
    assert found.value is None
