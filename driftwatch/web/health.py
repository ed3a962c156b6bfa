"""Is this process alive, and can it do its work? Open to everyone: the answers hold no secrets."""

from __future__ import annotations

import contextlib

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from sqlalchemy.exc import SQLAlchemyError

from driftwatch import telemetry
from driftwatch.alerts import gauges
from driftwatch.web.auth.dependencies import services_of

router = APIRouter(tags=["health"])


@router.get("/healthz", summary="Is the process alive?")
async def healthz() -> dict[str, str]:
    """Answers as long as the event loop turns."""
    return {"status": "ok"}


@router.get("/readyz", summary="Can the roles of this process work?")
async def readyz(request: Request) -> JSONResponse:
    """200 when every role of this process can work, else 503 with what is wrong, role by role."""
    report = await telemetry.readiness(services_of(request))
    return JSONResponse(report.as_dict(), status_code=200 if report.ready else 503)


@router.get("/metrics", include_in_schema=False)
async def metrics(request: Request) -> Response:
    """Prometheus text format. Without a database the process's own figures are still shown."""
    with contextlib.suppress(SQLAlchemyError):
        async with services_of(request).db.transaction() as session:
            await gauges.refresh(session)
    return Response(generate_latest(telemetry.REGISTRY), media_type=CONTENT_TYPE_LATEST)
