from __future__ import annotations

from dataclasses import replace

from builders.changes import BROKEN_OUTPUT, change, finding, part

from driftwatch.alerts.full_diff import full_diff
from driftwatch.alerts.message import Told

PATHS = (
    {"kind": "removed", "pointer": "/properties/status/type", "old": "string"},
    {"kind": "added", "pointer": "/properties/status/anyOf", "new": [{"type": "null"}]},
    {"kind": "changed", "pointer": "/description", "old": "a", "new": "b"},
)
URL = "https://drift.example/changesets/3"


def lines(*told: Told) -> list[str]:
    (message,) = full_diff(told, URL)
    return [line for p in message.paragraphs for line in p.text.split("\n")]


def told(*parts: object, outcome: str = "alert", **fields: object) -> Told:
    return Told(change(*parts, **fields), "silent-break", outcome, "critical")  # type: ignore[arg-type]  # fields of any type


def test_values_are_written_as_a_person_would() -> None:
    said = lines(told(replace(BROKEN_OUTPUT, paths=PATHS)))
    assert said[-3:] == [
        "    − /properties/status/type: string",
        '    + /properties/status/anyOf: [{"type": "null"}]',
        "    ~ /description: a → b",
    ]


def test_what_two_kinds_of_clients_see_alike_is_written_once() -> None:
    said = lines(told(BROKEN_OUTPUT), told(BROKEN_OUTPUT, id=8, tool_id=12, era="legacy"))
    assert [line for line in said if line.startswith("get_order")] == [
        "get_order  v3 → v4  (seen by 2026-07-28 and 2025-11-25 clients)"
    ]
    other = told(BROKEN_OUTPUT, id=8, tool_id=12, era="legacy", to_version=9)
    assert sum(line.startswith("get_order") for line in lines(told(BROKEN_OUTPUT), other)) == 2


def test_what_alerts_comes_first_and_is_said_once() -> None:
    gone = part("presence", "breaking", finding("tool-removed", "breaking", "`z` is gone"))
    quiet = told(part("text", "compatible"), outcome="history", tool="a")
    said = lines(quiet, told(gone, id=8, tool="z", kind="removed", to_version=None))
    assert said[0] == "z  v3 → gone  (seen by 2026-07-28 clients)"
    assert sum("z is gone" in line for line in said) == 1
    assert any(line.startswith("a  v3 → v4") for line in said)
