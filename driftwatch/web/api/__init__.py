"""The API, /api/v1: bearer tokens, problem documents, keyset cursors. Described at /api/v1/openapi.json."""

from __future__ import annotations

from fastapi import APIRouter

from driftwatch.web.api import alerts, changes, channels, compare, eras, pushed, quiet, servers, tools
from driftwatch.web.api.ascii_json import AsciiJSONResponse
from driftwatch.web.problems import Problem

router = APIRouter(
    prefix="/api/v1",
    default_response_class=AsciiJSONResponse,
    responses={
        "4XX": {
            "description": "A problem document (RFC 9457) with a stable `code` and a `hint`.",
            "model": Problem,
        }
    },
)
router.include_router(servers.router)
router.include_router(pushed.router)
router.include_router(tools.router)
router.include_router(eras.router)
router.include_router(changes.router)
router.include_router(alerts.router)
router.include_router(compare.router)
router.include_router(channels.router)
router.include_router(quiet.router)
