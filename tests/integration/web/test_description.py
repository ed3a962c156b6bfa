"""The description of the API: complete, without warnings, current in docs, with examples that are real answers."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import jsonschema
import pytest
from browser.world import Template, World
from integration.web.every_operation import ORIGIN, Everything, ask_everything

from driftwatch.testing.shop import Shop
from driftwatch.web.app import create_app
from driftwatch.web.description import EXAMPLES, TAGS, operations, recorded
from driftwatch.web.problems import MEDIA_TYPE

pytestmark = pytest.mark.postgres

DOCUMENT = Path(__file__).parents[3] / "docs" / "openapi.json"
#: set it to write the examples and docs/openapi.json anew
WRITE = "WRITE_API_EXAMPLES"


@pytest.fixture
async def world(template: Template, tmp_path: Path) -> AsyncIterator[World]:
    async with template.copy(tmp_path) as found:
        yield found


@pytest.fixture
def document(world: World) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return create_app(world.services).openapi()


@pytest.fixture
async def everything(world: World, document: dict[str, Any], shop: Shop) -> Everything:
    transport = httpx2.ASGITransport(app=create_app(world.services))
    headers = {"authorization": f"Bearer {world.token}"}
    async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN, headers=headers) as client:
        found = await ask_everything(client, document, world, shop.url)
    if os.environ.get(WRITE):
        _write(found.seen, world)
    return found


def _write(seen: dict[str, Any], world: World) -> None:
    text = json.dumps(seen, indent=1, ensure_ascii=True, sort_keys=True)
    text = re.sub(r"http://127\.0\.0\.1:\d+/mcp", "https://mcp.example.com/mcp", text)
    EXAMPLES.write_text(text.replace(world.services.settings.public_url, "https://driftwatch.example.com") + "\n")
    recorded.cache_clear()
    DOCUMENT.write_text(committed(create_app(world.services).openapi()))


def committed(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def shape(value: Any) -> Any:
    """Keys and types, all the way down; of a list, its first item's."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value).__name__


async def test_examples_are_what_every_operation_answers_today(everything: Everything) -> None:
    known = json.loads(EXAMPLES.read_text())
    assert set(everything.seen) == set(known), f"run this test once with {WRITE}=1"
    for operation, seen in everything.seen.items():
        for what in ("parameters", "body", "status", "answer"):
            assert shape(seen[what]) == shape(known[operation][what]), f"{operation}, {what}: set {WRITE}=1 once"


async def test_every_operation_has_an_example(document: dict[str, Any]) -> None:
    known = set(json.loads(EXAMPLES.read_text()))
    assert {operation["operationId"] for _, _, operation in operations(document)} == known


async def test_the_committed_document_is_current(document: dict[str, Any]) -> None:
    assert DOCUMENT.read_text() == committed(document), f"run tests/integration/web/test_description.py with {WRITE}=1"


async def test_every_operation_says_what_it_is(document: dict[str, Any]) -> None:
    ids = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(ids) == len(set(ids))
    for path, method, operation in operations(document):
        where = f"{method} {path}"
        assert operation["summary"], where
        assert operation["description"], where
        assert len(operation["tags"]) == 1, where
        assert operation["tags"][0] in TAGS, where
        assert re.fullmatch(r"[a-z_]+", operation["operationId"]), where
        if path.startswith("/api/"):
            (scheme,) = operation["security"]
            assert scheme["token"] in (["read"], ["write"], ["check"], ["push"]), where
            assert (method == "get") == (scheme["token"] == ["read"]) or scheme["token"] in (["check"], ["push"]), where
            assert {"401", "403", "503"} <= set(operation["responses"]), where


async def test_refusals_are_described_as_problem_documents(document: dict[str, Any]) -> None:
    for _, _, operation in operations(document):
        for status, answer in operation["responses"].items():
            if status.startswith("4"):
                assert answer == {"$ref": f"#/components/responses/{status}"}
    for answer in document["components"]["responses"].values():
        assert list(answer["content"]) == [MEDIA_TYPE]
    assert "HTTPValidationError" not in document["components"]["schemas"]


async def test_examples_fit_their_schemas(document: dict[str, Any]) -> None:
    broken = [
        f"{where}: {error.message}"
        for where, schema, example in _examples(document)
        for error in jsonschema.Draft202012Validator({**schema, "components": document["components"]}).iter_errors(
            example
        )
    ]
    assert broken == []


def _examples(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], Any]]:
    for path, method, operation in operations(document):
        where = f"{method} {path}"
        answers = [*operation["responses"].values(), operation.get("requestBody", {})]
        for answer in answers:
            for content in answer.get("content", {}).values():
                if "example" in content:
                    yield where, content["schema"], content["example"]
        for parameter in operation.get("parameters", ()):
            if "example" in parameter:
                yield f"{where} {parameter['name']}", parameter["schema"], parameter["example"]


async def test_the_document_names_no_machine() -> None:
    text = DOCUMENT.read_text() + EXAMPLES.read_text()
    hosts = set(re.findall(r"https?://([\w.-]+)", text))
    allowed = {"json-schema.org", "hooks.slack.com", "www.w3.org"}
    assert {host for host in hosts if not host.endswith("example.com") and host not in allowed} == set()
