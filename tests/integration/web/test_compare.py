"""``POST /api/v1/compare`` from outside: what it takes, what it refuses, what it answers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from integration.web.test_api import client_with, problem

from driftwatch.app import Services
from driftwatch.web.api.compare import MAX_BODY_BYTES, MAX_CHANGES
from driftwatch.web.api.models.compare import EXAMPLES

STRING = {"type": "object", "properties": {"status": {"type": "string"}}}
NULLABLE = {"type": "object", "properties": {"status": {"type": ["string", "null"]}}}


@pytest.fixture
async def checker(services: Services) -> AsyncIterator[httpx2.AsyncClient]:
    async with await client_with(services, "check") as client:
        yield client


async def compared(client: httpx2.AsyncClient, **body: Any) -> dict[str, Any]:
    answer = await client.post("/compare", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_two_schemas(checker: httpx2.AsyncClient) -> None:
    found = await compared(checker, old=STRING, new=NULLABLE, era="legacy")
    assert found["verdict"] == "breaking"
    (change,) = found["changes"]
    (part,) = change["parts"]
    assert (change["tool"], change["part"], part["witness"]) == (None, "output", {"value": {"status": None}})
    assert part["findings"][0]["rule"] == "output-null-added"
    assert part["refused_at"] == "/status"
    assert [(answer["client"], answer["refuses"], answer["pointer"]) for answer in part["clients"]] == [
        (client, True, "/status") for client in ("spec", "ts1", "ts2", "py")
    ]
    assert {answer["message"] for answer in part["clients"]} >= {"data/status must be string"}
    assert (await compared(checker, old=NULLABLE, new=STRING))["verdict"] == "compatible"
    assert (await compared(checker, old=NULLABLE, new=STRING, direction="input"))["verdict"] == "breaking"
    both = await compared(checker, old=NULLABLE, new=STRING, direction="both")
    assert [part["part"] for part in both["changes"][0]["parts"]] == ["output", "input"]


@pytest.mark.parametrize(("root", "verdict"), [("any", "breaking"), ("object", "compatible"), (None, "breaking")])
async def test_which_results_there_are(checker: httpx2.AsyncClient, root: str | None, verdict: str) -> None:
    found = await compared(checker, old={"type": "object"}, new={"type": ["object", "null"]}, root=root)
    assert found["verdict"] == verdict


async def test_the_examples_of_the_description_are_answered(checker: httpx2.AsyncClient) -> None:
    verdicts = {name: (await compared(checker, **example["value"]))["verdict"] for name, example in EXAMPLES.items()}
    assert verdicts == dict.fromkeys(EXAMPLES, "breaking")
    described = (await checker.get("/openapi.json")).json()["paths"]["/api/v1/compare"]["post"]
    content = described["requestBody"]["content"]["application/json"]
    assert set(content["examples"]) == set(EXAMPLES)
    assert content["schema"]["required"] == ["old", "new"]


async def test_equal_lists_have_no_changes(checker: httpx2.AsyncClient) -> None:
    tools = [{"name": "a", "inputSchema": {"type": "object"}}]
    assert await compared(checker, old=tools, new={"tools": tools}) == {"verdict": "compatible", "changes": []}


async def test_no_digit_is_lost(checker: httpx2.AsyncClient) -> None:
    body = b'{"old": {"const": 18446744073709551617}, "new": {"const": 18446744073709551616}}'
    assert (await checker.post("/compare", content=body)).json()["verdict"] == "breaking"
    same = b'{"old": {"const": 18446744073709551617}, "new": {"const": 18446744073709551617.0}}'
    assert (await checker.post("/compare", content=same)).json()["verdict"] == "compatible"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"\xff",
        b'{"old": {}}',
        b'{"old": {}, "new": 5}',
        b'{"old": {}, "new": {"name": "t", "inputSchema": {}}}',
        b'{"old": {}, "new": {}, "direction": "sideways"}',
        b'{"old": {}, "new": {}, "made-up": 1}',
        b'{"old": {"const": 1e999}, "new": {}}',
        b'{"old": {}, "new": {}',
        b'{"old": {"a": "\\ud800"}, "new": {}}',
        b'{"old": ' + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b', "new": {}}',
    ],
)
async def test_what_is_no_question(checker: httpx2.AsyncClient, body: bytes) -> None:
    refused = problem(await checker.post("/compare", content=body), 422, "bad-input")
    assert refused["hint"]


async def test_too_much(checker: httpx2.AsyncClient) -> None:
    many = [{"name": f"t{n}", "inputSchema": {"type": "object"}} for n in range(MAX_CHANGES + 1)]
    problem(await checker.post("/compare", json={"old": [], "new": many}), 413, "too-large")
    large = json.dumps({"old": {"title": "x" * MAX_BODY_BYTES}, "new": {}}).encode()
    problem(await checker.post("/compare", content=large), 413, "too-large")


async def test_it_needs_the_scope_check(services: Services) -> None:
    body = {"old": STRING, "new": NULLABLE}
    async with await client_with(services) as nobody:
        problem(await nobody.post("/compare", json=body), 401, "unauthenticated")
    async with await client_with(services, "read") as reader:
        problem(await reader.post("/compare", json=body), 403, "forbidden")
    async with await client_with(services, "write") as writer:
        assert (await compared(writer, **body))["verdict"] == "breaking"
