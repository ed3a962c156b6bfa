"""The client cannot drift from the API: every operation has one method, with its path, filters and shape."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

import driftwatch.client
from driftwatch.client import Client, RefusedError, UnreachableError
from driftwatch.web.api.models import ServerPatch

DOCUMENT = Path(__file__).parents[3] / "docs" / "openapi.json"
#: other doors, not for this client: probes, images and feed readers
ELSEWHERE = re.compile(r"^/(?!api/v1/)")
NOT_FILTERS = {"cursor", "limit"}
METHODS = {
    "get": "get",
    "text": "get",
    "pages": "get",
    "post": "post",
    "patch": "patch",
    "put": "put",
    "delete": "delete",
}


@dataclass(frozen=True)
class Call:
    """One question the client asks, as its source says."""

    where: str
    method: str
    path: str
    shape: str
    query: frozenset[str]
    paged: bool


def _calls() -> Iterator[Call]:
    for module in Path(driftwatch.client.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(module.read_text())):
            if isinstance(node, ast.ClassDef):
                for method in node.body:
                    if isinstance(method, ast.FunctionDef):
                        yield from _of(f"{module.stem}.{node.name}.{method.name}", method)


def _of(where: str, method: ast.FunctionDef) -> Iterator[Call]:
    known = {
        n.targets[0].id: n.value
        for n in ast.walk(method)
        if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)
    }
    for node in ast.walk(method):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if ast.unparse(node.func.value) != "self._api":
            continue
        given = [known.get(a.id, a) if isinstance(a, ast.Name) else a for a in node.args]
        assert isinstance(given[0], ast.Constant), where
        rest = given[1:]
        shape = "" if node.func.attr in ("text", "delete") else ast.unparse(rest.pop(0))
        yield Call(
            where,
            METHODS[node.func.attr],
            f"/api/v1{given[0].value}",
            shape,
            frozenset(name for item in rest for name in _names(item)),
            node.func.attr == "pages",
        )


def _names(item: ast.expr) -> Iterator[str]:
    if isinstance(item, ast.Name) and item.id == "wanted":
        yield from driftwatch.client.changes.Wanted.__annotations__
    if isinstance(item, ast.Dict):
        for key, value in zip(item.keys, item.values, strict=True):
            yield from (_names(value) if key is None else [ast.literal_eval(key)])


CALLS = list(_calls())


@pytest.fixture(scope="module")
def operations() -> dict[tuple[str, str], dict[str, Any]]:
    import json

    paths = json.loads(DOCUMENT.read_text())["paths"]
    return {(method, path): one for path, methods in paths.items() for method, one in methods.items()}


def test_every_operation_has_its_method(operations: dict[tuple[str, str], dict[str, Any]]) -> None:
    described = {key for key in operations if not ELSEWHERE.match(key[1])}
    assert {(call.method, call.path) for call in CALLS} == described


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.where)
def test_a_method_reads_the_shape_and_sends_the_filters_of_its_operation(
    call: Call, operations: dict[tuple[str, str], dict[str, Any]]
) -> None:
    operation = operations[call.method, call.path]
    queries = {p["name"] for p in operation.get("parameters", ()) if p["in"] == "query"}
    assert call.query - NOT_FILTERS == queries - NOT_FILTERS
    assert call.paged == ("cursor" in queries and call.shape != "")
    shapes = {_shape(answer) for status, answer in operation["responses"].items() if status.startswith("2")}
    assert (f"Page[{call.shape}]" if call.paged else call.shape) in shapes


def _shape(answer: dict[str, Any]) -> str:
    schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
    inner = schema.get("items", schema)
    name = inner.get("$ref", "").removeprefix("#/components/schemas/")
    name = re.sub(r"^Page_(\w+?)_?$", r"Page[\1]", name)
    return f"list[{name}]" if "items" in schema else name


def answering(status: int, body: bytes, content_type: str = "application/json") -> Client:
    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(status, content=body, headers={"content-type": content_type})

    return Client("http://127.0.0.1:1", "dw_x", transport=httpx2.MockTransport(answer))


def test_a_problem_document_becomes_an_exception_with_code_and_hint() -> None:
    body = (
        b'{"type":"x","title":"Not found","status":404,"detail":"no server 42","code":"server-not-found","hint":"look"}'
    )
    with answering(404, body, "application/problem+json") as client, pytest.raises(RefusedError) as caught:
        client.servers.get(42)
    error = caught.value
    assert (error.status, error.code, error.message, error.hint) == (404, "server-not-found", "no server 42", "look")
    assert error.permanent


@pytest.mark.parametrize(
    ("status", "body"), [(200, b"<html>"), (200, b'{"id": "x"}'), (200, b"\xff"), (502, b"Bad gateway"), (500, b"[]")]
)
def test_what_is_no_driftwatch_is_said_so(status: int, body: bytes) -> None:
    with answering(status, body) as client, pytest.raises(UnreachableError):
        client.servers.get(1)


def test_nobody_there_is_an_exception(free_port: int) -> None:
    with Client(f"http://127.0.0.1:{free_port}", "dw_x") as client, pytest.raises(UnreachableError) as caught:
        client.fleet.overview()
    assert caught.value.hint
    assert not caught.value.permanent


def test_of_a_patch_only_what_was_set_is_sent() -> None:
    seen: list[bytes] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.read())
        return httpx2.Response(503, json={"detail": "away", "code": "database"})

    with Client("http://127.0.0.1:1", "dw_x", transport=httpx2.MockTransport(answer)) as client:
        with pytest.raises(RefusedError) as caught:
            client.servers.change(1, ServerPatch(owner=None))
        assert not caught.value.permanent
    assert seen == [b'{"owner":null}']


def test_ids_in_paths_and_filters_are_escaped() -> None:
    seen: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(str(request.url))
        return httpx2.Response(200, json={"items": [], "next": None})

    with Client("http://h.test:1/dw/", "dw_x", transport=httpx2.MockTransport(answer)) as client:
        assert list(client.changes.every(tool="a&b/ü", rule=None)) == []
    assert seen == ["http://h.test:1/dw/api/v1/changes?tool=a%26b%2F%C3%BC"]
