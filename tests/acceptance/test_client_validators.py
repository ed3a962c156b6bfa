"""The emulated clients against the real ones: TypeScript SDK 1.32.2 and 2.4.0, mcp 1.27 and 2.3."""

from __future__ import annotations

import json

import pytest
from acceptance.client_questions import questions
from acceptance.real_clients import agreement, compare

CLOSED = {"type": "object", "additionalProperties": False, "properties": {"a": {}}}
LIST_OF_1 = "mcp 1.x reads such a list and fails at the call; our `py` speaks for mcp 2.x, which loses the list"

#: client, schema, result → why we say something else than the real client
KNOWN = {
    ("ts1", json.dumps(CLOSED), '{"__proto__": 1}'): "zod drops the key `__proto__` of a result before Ajv sees it",
    ("ts2", json.dumps(CLOSED), '{"__proto__": 1}'): "the same, in the legacy era",
    ("py1", json.dumps({"$schema": 7, "type": "object"}), "{}"): LIST_OF_1,
    ("py1", json.dumps({"type": "object", "properties": {"a": ["string"]}}), '{"a": 1}'): LIST_OF_1,
    ("py1", json.dumps({"type": "object", "properties": "none"}), "{}"): LIST_OF_1,
    ("py1", json.dumps({"type": "object", "required": [1]}), "{}"): LIST_OF_1,
    ("py1", json.dumps({"type": "object", "required": "a"}), "{}"): LIST_OF_1,
}


def test_the_emulated_clients_agree_with_the_real_ones(capsys: pytest.CaptureFixture[str]) -> None:
    asked, found = compare(list(questions()))
    with capsys.disabled():
        print("\nagreement with the real clients:", agreement(asked, found))
    assert min(asked.values()) >= 300, asked
    assert len(found) <= 0.01 * asked.total()
    assert {disagreement.key: str(disagreement) for disagreement in found if disagreement.key not in KNOWN} == {}
    assert {disagreement.key for disagreement in found} == set(KNOWN), "a known disagreement is gone: take it out"
