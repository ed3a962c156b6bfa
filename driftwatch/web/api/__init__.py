"""The API, /api/v1: bearer tokens, problem documents, keyset cursors. Described at /api/v1/openapi.json."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import APIRouter


def router() -> APIRouter:
    """Every operation."""
    # Here, not above: the Python client reads the models of this package and needs no web application.
    from fastapi import APIRouter

    from driftwatch.web.api import (
        alerts,
        changelog,
        changes,
        channels,
        compare,
        eras,
        evidence,
        overview,
        pushed,
        quiet,
        rules,
        servers,
        tools,
    )
    from driftwatch.web.api.ascii_json import AsciiJSONResponse

    operations = APIRouter(prefix="/api/v1", default_response_class=AsciiJSONResponse)
    watched = (overview, servers, pushed, evidence, tools, eras)
    told = (changes, changelog, alerts, channels, quiet, compare, rules)
    for module in (*watched, *told):
        operations.include_router(module.router)
    return operations
