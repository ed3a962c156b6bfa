"""An authorization server and an MCP server that demands its tokens: authority_process.py KEY_FILE CLIENT SECRET.

Two loopback ports of the system's choice; prints ``{"issuer": …, "mcp": …}`` once both listen. The MCP server is a
real one of the SDK (both eras). POST /ctl sets the options below, POST /revoke forgets every token, GET /seen tells
what came.
"""

from __future__ import annotations

import asyncio
import base64
import json
import secrets
import socket
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jwt
import uvicorn
from mcp.server import MCPServer
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.subscriptions import InMemorySubscriptionBus, ToolsListChanged
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

SCOPE = "tools:read"


@dataclass
class Options:
    """How the authorization server behaves. ``token``: grant, refuse, fail, nonsense, or redirect elsewhere."""

    life: int | None = 3600
    token: str = "grant"
    scopes: str = ""
    issuer: str = ""


@dataclass
class Authority:
    """Its state: tokens given, assertions used, token requests seen, authorization headers the MCP server saw."""

    public_key: str
    client: tuple[str, str]
    issuer: str
    options: Options = field(default_factory=Options)
    tokens: dict[str, AccessToken] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    seen: list[dict[str, Any]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    async def metadata(self, request: Request) -> Response:
        issuer = self.options.issuer or self.issuer
        return JSONResponse(
            {
                "issuer": issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "response_types_supported": ["code"],
                "grant_types_supported": ["client_credentials"],
                "token_endpoint_auth_methods_supported": [
                    "client_secret_basic",
                    "client_secret_post",
                    "private_key_jwt",
                ],
            }
        )

    async def token(self, request: Request) -> Response:
        form = {key: str(value) for key, value in (await request.form()).items()}
        method = self.authenticated(request, form)
        self.seen.append({"method": method, "scope": form.get("scope"), "resource": form.get("resource")})
        if self.options.token == "redirect":
            return RedirectResponse("http://elsewhere.invalid/token", 307)
        if self.options.token == "fail":
            return Response("out of order", 503)
        if self.options.token == "nonsense":
            return JSONResponse({"access_token": "two\nlines", "token_type": "Bearer"})
        if method is None or self.options.token == "refuse":
            told = {"error": "invalid_client", "error_description": "unknown <client>"}
            return JSONResponse(told, 401)
        if form.get("grant_type") != "client_credentials":
            return JSONResponse({"error": "unsupported_grant_type"}, 400)
        scopes = self.options.scopes or form.get("scope", "")
        return JSONResponse(self.given(scopes.split(), form.get("resource")))

    def given(self, scopes: list[str], resource: str | None) -> dict[str, Any]:
        value, life = secrets.token_urlsafe(24), self.options.life
        ends = None if life is None else int(time.time()) + life
        self.tokens[value] = AccessToken(
            token=value, client_id=self.client[0], scopes=scopes, expires_at=ends, resource=resource
        )
        answer = {"access_token": value, "token_type": "bearer", "scope": " ".join(scopes)}
        return answer if life is None else answer | {"expires_in": life}

    def authenticated(self, request: Request, form: dict[str, str]) -> str | None:
        """How the client proved itself; None: not at all."""
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme == "Basic":
            name, _, secret = base64.b64decode(given).decode().partition(":")
            good = (unquote(name), unquote(secret)) == self.client
            return "client_secret_basic" if good else None
        if "client_secret" in form:
            good = (form.get("client_id"), form["client_secret"]) == self.client
            return "client_secret_post" if good else None
        return self.asserted(form.get("client_assertion", ""))

    def asserted(self, assertion: str) -> str | None:
        try:
            claims = jwt.decode(assertion, self.public_key, algorithms=["ES256"], audience=self.issuer)
        except jwt.InvalidTokenError:
            return None
        if {claims["iss"], claims["sub"]} != {self.client[0]} or claims["jti"] in self.used:
            return None
        self.used.add(claims["jti"])
        return "private_key_jwt"

    async def verify_token(self, token: str) -> AccessToken | None:
        """For the MCP server."""
        self.asked.append(token)
        return self.tokens.get(token)

    async def control(self, request: Request) -> Response:
        for name, value in (await request.json()).items():
            setattr(self.options, name, value)
        return Response(status_code=204)

    async def revoke(self, request: Request) -> Response:
        self.tokens.clear()
        return Response(status_code=204)

    async def told(self, request: Request) -> Response:
        return JSONResponse({"tokens": self.seen, "asked": self.asked, "valid": list(self.tokens)})


def mcp_server(authority: Authority, url: str) -> MCPServer:
    """A real server with one tool; it publishes when told to."""
    bus = InMemorySubscriptionBus()
    settings = AuthSettings.model_validate(
        {
            "issuer_url": authority.issuer,
            "resource_server_url": url,
            "required_scopes": [SCOPE],
            "validate_token_resource": True,
        }
    )
    server = MCPServer("guarded", auth=settings, token_verifier=authority, subscriptions=bus)

    def lookup(key: str) -> str:
        return key

    server.add_tool(lookup, name="lookup")

    @server.custom_route("/publish", methods=["POST"])
    async def publish(request: Request) -> Response:
        await bus.publish(ToolsListChanged())
        return Response(status_code=204)

    return server


def bound() -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    return listener


async def main(public_key: str, client: tuple[str, str]) -> None:
    ours, theirs = bound(), bound()
    issuer = f"http://127.0.0.1:{ours.getsockname()[1]}"
    url = f"http://127.0.0.1:{theirs.getsockname()[1]}/mcp"
    authority = Authority(public_key, client, issuer)
    app = Starlette(
        routes=[
            Route("/.well-known/oauth-authorization-server", authority.metadata),
            Route("/token", authority.token, methods=["POST"]),
            Route("/ctl", authority.control, methods=["POST"]),
            Route("/revoke", authority.revoke, methods=["POST"]),
            Route("/seen", authority.told),
        ]
    )
    guarded = mcp_server(authority, url).streamable_http_app()
    servers = [uvicorn.Server(uvicorn.Config(one, log_level="warning")) for one in (app, guarded)]
    print(json.dumps({"issuer": issuer, "mcp": url}), flush=True)
    await asyncio.gather(servers[0].serve([ours]), servers[1].serve([theirs]))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]).read_text(), (sys.argv[2], sys.argv[3])))
