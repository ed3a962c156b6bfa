"""Is this process alive, can it do its work, and what are its figures: for machines that watch us.

The first two are open to everyone and say nothing that a stranger could use. Figures name channels: the web port shows
them to holders of a token, the health port (which a network policy guards) to whoever reaches it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.responses import JSONResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Metric, generate_latest
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError

from driftwatch import telemetry
from driftwatch.alerts import gauges as alert_gauges
from driftwatch.scheduler import gauges as scheduler_gauges
from driftwatch.web.auth.dependencies import allowed, services_of

if TYPE_CHECKING:
    from driftwatch.app import Services

probes = APIRouter(tags=["health"])
router = APIRouter()


def create_health_app(services: Services, *, installation: bool) -> FastAPI:
    """The application of the health port.

    Args:
        services: of this process.
        installation: whether /metrics also shows what the database knows, which is the same in every process.
    """
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.state.services = services
    app.include_router(probes)

    @app.get("/metrics")
    async def metrics() -> Response:
        return await exposition(services, installation=installation)

    return app


@probes.get("/healthz", summary="Is the process alive?")
async def healthz() -> dict[str, str]:
    """Answers as long as the event loop turns."""
    return {"status": "ok"}


@probes.get(
    "/readyz",
    summary="Can the roles of this process work?",
    responses={503: {"description": "A role cannot work; the answer says which and why."}},
)
async def readyz(request: Request) -> JSONResponse:
    """200 when every role of this process can work, else 503 with what is wrong, role by role."""
    report = await telemetry.readiness(services_of(request))
    return JSONResponse(report.as_dict(), status_code=200 if report.ready else 503)


router.include_router(probes)


@router.get("/metrics", include_in_schema=False, dependencies=[Depends(allowed("read"))])
async def metrics(request: Request) -> Response:
    """Prometheus text format."""
    return await exposition(services_of(request), installation=True)


async def exposition(services: Services, *, installation: bool) -> Response:
    """Every figure, as Prometheus reads it. Without a database the process's own ones are still shown."""
    body = generate_latest(telemetry.REGISTRY)
    if installation:
        body += generate_latest(_Read(await _installation(services)))
    return Response(body, media_type=CONTENT_TYPE_LATEST)


async def _installation(services: Services) -> list[Metric]:
    try:
        async with services.db.transaction() as session:
            return [*await alert_gauges.read(session), *await scheduler_gauges.read(session)]
    except SQLAlchemyError:
        return []


class _Read(CollectorRegistry):
    """Metrics that were read for one answer: nothing is kept, so two answers at a time cannot mix."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        super().__init__(auto_describe=False)
        self.register(_Fixed(metrics))


class _Fixed(Collector):
    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = list(metrics)

    def collect(self) -> Iterable[Metric]:
        """The metrics as they were read."""
        return self._metrics
