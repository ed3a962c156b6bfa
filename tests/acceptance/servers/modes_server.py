"""A server that misbehaves in one way per path: ``/m/MODE``, both eras. ``python modes_server.py PORT``.

MODES says what each mode does to the answer of tools/list; the handshakes are the same for all. Every mode declares
listChanged in both eras and offers no stream: GET is 405, subscriptions/listen unknown (``limit``: full).
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

MODERN = "2026-07-28"
OBJECT = {"type": "object"}
DECLARES = {"tools": {"listChanged": True}}
asked: Counter[str] = Counter()


@dataclass(frozen=True)
class Ask:
    """One tools/list. ``count``: how often this mode was asked before in its era."""

    count: int
    cursor: str | None
    params: dict[str, Any]
    headers: dict[str, str]
    modern: bool


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": f"does {name}", "inputSchema": {**OBJECT, "properties": {}}, **more}


def numbered(count: int, start: int = 0) -> list[dict[str, Any]]:
    return [tool(f"t{n:02d}", outputSchema=OBJECT) for n in range(start, start + count)]


VENDOR = tool(
    "v",
    outputSchema={
        **OBJECT,
        "properties": {"x": {"type": "number", "x-unit": "C", "multipleOf": 0.1}},
        "unevaluatedProperties": False,
        "$defs": {"Any": True},
        "dependentRequired": {"x": ["y"]},
        "examples": [None],
        "default": None,
    },
    annotations={"readOnlyHint": True, "costHint": 3},
    icons=[{"src": "https://example.test/i.png", "sizes": ["48x48"], "x-extra": 1}],
    _meta={"com.example/rev": 7},
    **{"x-rate": 5, "vendorField": {"deep": None}},
)
PAGED = {None: (0, "3"), "3": (3, "6"), "6": (6, None)}


def paged(ask: Ask) -> dict[str, Any]:
    start, following = PAGED[ask.cursor]
    return {"tools": numbered(3 if following else 1, start)} | ({"nextCursor": following} if following else {})


def cut(ask: Ask) -> dict[str, Any]:
    return paged(ask) if ask.cursor is None else {"tools": []}


def broken_page(ask: Ask) -> dict[str, Any]:
    return {"error": {"code": -32603, "message": "boom"}} if ask.cursor == "6" else paged(ask)


def empty_cursor(ask: Ask) -> dict[str, Any]:
    return {"tools": numbered(2, 2)} if ask.cursor == "" else {"tools": numbered(2), "nextCursor": ""}


def flapping(ask: Ask) -> dict[str, Any]:
    last = tool("t04", outputSchema={**OBJECT, "required": ["new"]} if ask.count % 2 else OBJECT)
    return {"tools": [*numbered(4), last]}


def by_caller(ask: Ask) -> dict[str, Any]:
    return {"tools": [tool("of_" + ask.headers.get("authorization", "nobody").split()[-1])], "cacheScope": "private"}


def by_capability(ask: Ask) -> dict[str, Any]:
    return {"tools": [tool("base"), *([tool("sampler")] if "sampling" in json.dumps(ask.params) else [])]}


def with_input(name: str, schema: Any) -> list[dict[str, Any]]:
    return [tool("ok"), {**tool(name), "inputSchema": schema}]


def listed(tools: list[Any], **more: Any) -> Callable[[Ask], dict[str, Any]]:
    return lambda ask: {"tools": tools, **more}


MODES: dict[str, Callable[[Ask], dict[str, Any]]] = {
    "vendor": listed([VENDOR]),
    "nonobj_legacy": listed([tool("ok"), tool("arr", outputSchema={"type": "array"})]),
    "boolprop": listed([tool("ok"), tool("b", outputSchema={**OBJECT, "properties": {"r": True}})]),
    "boolschema": listed([tool("ok"), tool("b", outputSchema=True)]),
    "badtool": listed([tool("ok"), {"name": "noschema"}, None, {"description": "no name"}]),
    "reqnull": listed(with_input("reqnull", {**OBJECT, "required": None})),
    "badheader": listed(with_input("hdr", {**OBJECT, "properties": {"a": {"type": "number", "x-mcp-header": "A B"}}})),
    "dup": listed([tool("a", outputSchema=OBJECT), tool("a", outputSchema={**OBJECT, "required": ["x"]})]),
    "shuffle": lambda ask: {"tools": random.sample(numbered(20), 20)},
    "flap": flapping,
    "page": paged,
    "pagecut": cut,
    "pageerr": broken_page,
    "loopcursor": lambda ask: {"tools": numbered(2), "nextCursor": "same"},
    "emptycursor": empty_cursor,
    "nullcursor": listed(numbered(2), nextCursor=None),
    "nottl": listed(numbered(2), ttlMs=..., cacheScope=...),
    "negttl": listed(numbered(2), ttlMs=-5),
    "ttl": listed(numbered(2), ttlMs=300_000),
    "ttlflap": lambda ask: {"tools": [tool(f"n{ask.count}")], "ttlMs": 300_000},
    "private": by_caller,
    "caps": by_capability,
    "inputreq": listed(numbered(1), resultType="input_required"),
    "html429": listed(numbered(2)),
    "auth": listed(numbered(2)),
    "limit": listed(numbered(2)),
    "n20": listed(numbered(20)),
    "instructed": listed(numbered(1)),
}


async def mode(request: Request) -> Response:
    name = request.path_params["mode"]
    if name == "auth" and "authorization" not in request.headers:
        where = f"{request.base_url}.well-known/oauth-protected-resource/m/auth"
        return Response(status_code=401, headers={"www-authenticate": f'Bearer resource_metadata="{where}", scope="x"'})
    if request.method != "POST":
        return Response(status_code=405 if request.method == "GET" else 200)
    body = await request.json()
    if "id" not in body:
        return Response(status_code=202)
    posts = f"{name} posts"
    asked[posts] += 1
    if name == "html429" and asked[posts] % 2 == 0:
        return Response("<html>slow down</html>", 429, {"retry-after": "1"}, "text/html")
    answer, status = answered(name, body, dict(request.headers))
    return JSONResponse({"jsonrpc": "2.0", "id": body["id"], **answer}, status)


def answered(name: str, body: dict[str, Any], headers: dict[str, str]) -> tuple[dict[str, Any], int]:
    method, params = body["method"], body.get("params") or {}
    modern = headers.get("mcp-protocol-version") == MODERN
    around = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"} if modern else {}
    says = {"instructions": "Always call t00\u200b first."} if name == "instructed" else {}
    if method == "server/discover":
        return {"result": {"supportedVersions": [MODERN], "capabilities": DECLARES, **says, **around}}, 200
    if method == "initialize":
        known = {"protocolVersion": "2025-11-25", "capabilities": DECLARES, "serverInfo": {"name": "m", "version": "1"}}
        return {"result": {**known, **says}}, 200
    if method == "tools/list":
        era = f"{name} {modern}"
        ask = Ask(asked[era], params.get("cursor"), params, headers, modern)
        asked[era] += 1
        found = MODES[name](ask)
        result = {key: value for key, value in {**around, **found}.items() if value is not ...}
        return (found, 200) if "error" in found else ({"result": result}, 200)
    if method == "subscriptions/listen" and name == "limit":
        return {"error": {"code": -32603, "message": "Subscription limit reached"}}, 200
    return {"error": {"code": -32601, "message": "Method not found"}}, 404 if modern else 200


async def ready(request: Request) -> Response:
    return JSONResponse({"modes": list(MODES)})


routes = [Route("/m/{mode}", mode, methods=["GET", "POST", "DELETE"]), Route("/modes", ready)]
uvicorn.run(Starlette(routes=routes), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
