"""How the API describes itself: OpenAPI with refusals, scopes, and examples that were real answers once.

The examples lie beside the API in ``examples.json``; a test asks every operation again and compares their shape.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from driftwatch.web.problems import MEDIA_TYPE, TITLES, Problem

EXAMPLES: Final = Path(__file__).parent / "api" / "examples.json"

TAGS: Final[Mapping[str, str]] = {
    "overview": "The fleet at a glance, and the search over everything.",
    "servers": "What is watched: register, look first, import, change, pause, check now.",
    "pushed servers": "Servers that driftwatch cannot reach: an agent pushes what it saw.",
    "evidence": "What is known of one server: its time axis, listening, findings, polls, the list as it was.",
    "tools": "Tools, their versions, and what the difference between two means.",
    "changes": "What happened, with proof and evidence; changesets are what one deploy did.",
    "changelog": "The changelog to take along.",
    "alerts": "What needs someone: acknowledge, accept, mute.",
    "channels": "Where messages go, what became of them, and which route they take.",
    "quiet": "What people asked not to hear: mutes, ignore rules, maintenance windows, the policy.",
    "compare": "Two contracts that nobody watches.",
    "rules": "What findings mean.",
    "badges": "For READMEs and dashboards. Open to everyone where the setting `public_badges` says so.",
    "feeds": "Atom feeds. Feed readers send a token as the password.",
    "health": "Is the process alive, and can it work? Open to everyone.",
}
ABOUT: Final = """\
Send `Authorization: Bearer dw_…`; a token has scopes (`read`, `write`, `check`, `push`), and each operation names the
one it needs. Refusals are problem documents (RFC 9457) with a stable `code` and a `hint`. Lists that can grow come in
pages: pass `next` as `cursor` to read on. Times have a time zone; ids are permalinks."""

#: why an operation refuses, by status; ``code`` of the problem document and what it says
_REFUSALS: Final[Mapping[int, tuple[str, str, str]]] = {
    400: ("bad-request", "The body cannot be read.", "There was an error parsing the body"),
    401: ("unauthenticated", "No usable token came with the request.", "this needs a token"),
    403: ("forbidden", "The token has not the scope.", "this needs a token with the scope 'write'; yours has read"),
    404: ("not-found", "There is no such thing, or no longer.", "there is no server 42"),
    409: ("conflict", "It contradicts what is stored.", "there is a server of this name"),
    413: ("too-large", "More than one question may hold.", "the body is larger than 4 MiB"),
    422: ("invalid-request", "A value cannot be accepted; the detail names the place.", "/query/limit: too large"),
    503: ("database", "The database cannot be reached; nothing was done.", "the database cannot be reached right now"),
}


def describe(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document of the application; made once."""
    if app.openapi_schema is None:
        document = get_openapi(
            title=app.title,
            version=app.version,
            summary=app.summary,
            description=ABOUT,
            routes=app.routes,
            tags=[{"name": name, "description": words} for name, words in TAGS.items()],
        )
        _refusals(document)
        _examples(document, recorded())
        app.openapi_schema = document
    return app.openapi_schema


@cache
def recorded() -> Mapping[str, Mapping[str, Any]]:
    """The real question and answer of each operation, by its id."""
    found: dict[str, dict[str, Any]] = json.loads(EXAMPLES.read_text())
    return found


def operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(path, method, operation) of everything described."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def _refusals(document: dict[str, Any]) -> None:
    schemas, parts = document["components"]["schemas"], document["components"]
    for leftover in ("HTTPValidationError", "ValidationError"):
        schemas.pop(leftover, None)
    schemas["Problem"] = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    parts["securitySchemes"]["password"] = {
        "type": "http",
        "scheme": "basic",
        "description": "A token as the password, any name: what feed readers can send.",
    }
    parts["responses"] = {str(status): _refusal(status) for status in _REFUSALS}
    for path, method, operation in operations(document):
        answers = operation["responses"]
        answers.pop("422", None)
        for status in sorted(_statuses(path, method, operation)):
            answers[str(status)] = {"$ref": f"#/components/responses/{status}"}


def _statuses(path: str, method: str, operation: Mapping[str, Any]) -> Iterator[int]:
    given = {parameter["name"] for parameter in operation.get("parameters", ())}
    if operation.get("security"):
        yield from (401, 403, 503)
    if "{" in path or "server" in given or "requestBody" in operation:
        yield 404
    if given or "requestBody" in operation:
        yield 422
    if "requestBody" in operation:
        yield 400
    if "413" in operation["responses"]:
        yield 413
    if method != "get":
        yield 409


def _refusal(status: int) -> dict[str, Any]:
    code, words, detail = _REFUSALS[status]
    example = Problem(
        type=f"urn:driftwatch:problem:{code}", title=TITLES[status], status=status, detail=detail, code=code
    )
    return {
        "description": words,
        "content": {
            MEDIA_TYPE: {
                "schema": {"$ref": "#/components/schemas/Problem"},
                "example": example.model_dump(exclude_none=True),
            }
        },
    }


def _examples(document: dict[str, Any], known: Mapping[str, Mapping[str, Any]]) -> None:
    for _, _, operation in operations(document):
        seen = known.get(operation["operationId"])
        if seen is None:
            continue
        answer = operation["responses"][str(seen["status"])]
        for content in answer.get("content", {}).values():
            content["example"] = seen["answer"]
        for parameter in operation.get("parameters", ()):
            if parameter["name"] in seen["parameters"]:
                parameter["example"] = seen["parameters"][parameter["name"]]
        body = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if body is not None and "examples" not in body and seen["body"] is not None:
            body["example"] = seen["body"]
