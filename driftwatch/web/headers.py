"""Response headers that every answer carries, as ASGI middleware."""

from __future__ import annotations

import time
import uuid
from typing import Final

import structlog
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
#: the API's own documentation pages load nothing from elsewhere either, so one policy serves all
SECURITY_HEADERS: Final = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}

#: asked all the time by machines
QUIET: Final = frozenset({"/healthz", "/readyz", "/metrics", "/static"})
log = structlog.get_logger(__name__)


class ResponseHeaders:
    """Adds the security headers and a request id; the id is bound to every log line of the request."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = uuid.uuid4().hex[:12]
        scope.setdefault("state", {})["request_id"] = request_id

        started, status = time.monotonic(), 0

        async def with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                headers["x-request-id"] = request_id
                if not scope["path"].startswith("/static/"):
                    headers.setdefault("cache-control", "no-store")
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self.app(scope, receive, with_headers)
            finally:
                _tell(scope, status, time.monotonic() - started)


def _tell(scope: Scope, status: int, seconds: float) -> None:
    """One line per request, so that a request id leads somewhere. The route, not the path: paths hold login links."""
    route = getattr(scope.get("route"), "path", "unknown")
    if route not in QUIET:
        log.info("request", method=scope["method"], route=route, status=status, ms=round(seconds * 1000, 1))
