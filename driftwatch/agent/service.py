"""driftwatch as an agent sees it: where a server is registered, and where snapshots go."""

from __future__ import annotations

import contextlib
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import TracebackType
from typing import Any, Final, Self

import httpx2

from driftwatch.agent.clock import AgentClock
from driftwatch.agent.report import Report
from driftwatch.errors import DriftwatchError, InputError

TIMEOUT_SECONDS: Final = 30.0
_SUCH_AS: Final = "Give the address of driftwatch, such as https://dw.example."
#: answers that say: not now. Everything else that is no success says: not this, never
_LATER: Final = frozenset({401, 403, 404, 408, 421, 425, 429})


class AwayError(DriftwatchError):
    """driftwatch cannot be reached, or cannot answer now: the same again later may do."""

    code = "service-away"
    permanent = False


class RefusedReportError(DriftwatchError):
    """driftwatch does not take this report, and never will."""

    code = "report-refused"


@dataclass(frozen=True, slots=True)
class Registration:
    """The server as driftwatch knows it."""

    name: str
    interval_seconds: int | None = None
    tags: tuple[str, ...] = ()
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a report; ``look_again_seconds`` None: at the usual time."""

    outcome: str
    look_again_seconds: float | None
    interval_seconds: float
    changes: tuple[int, ...] = field(default=())


class Service:
    """The API of one driftwatch. Its answers also say what time it is there."""

    def __init__(self, url: str, token: str, clock: AgentClock) -> None:
        self._base = f"{url.rstrip('/')}/api/v1"
        self._clock = clock
        try:
            host = httpx2.URL(self._base).host
        except httpx2.InvalidURL as error:
            raise InputError(
                f"--to: {error}", hint="Give the address of driftwatch, such as https://dw.example."
            ) from error
        if not self._base.startswith(("http://", "https://")) or not host:
            raise InputError("--to is no http or https address", hint="Such as https://dw.example.")
        self._http = httpx2.AsyncClient(
            headers={"authorization": f"Bearer {token}", "content-type": "application/json"},
            timeout=TIMEOUT_SECONDS,
            trust_env=not _this_machine(host),  # a proxy of the environment cannot reach this machine
        )

    async def __aenter__(self) -> Self:
        await self._http.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.__aexit__(kind, error, trace)

    async def register(self, wanted: Registration) -> tuple[int, float]:
        """The server's id and interval; registered when it is not yet. Raises AwayError, RefusedReportError."""
        body: dict[str, Any] = {"name": wanted.name, "tags": list(wanted.tags), "owner": wanted.owner}
        answer = await self._post("/servers/pushed", body | {"interval_seconds": wanted.interval_seconds})
        return int(answer["server_id"]), float(answer["interval_seconds"])

    async def push(self, server_id: int, report: Report) -> Taken:
        """Send a report. Raises AwayError, RefusedReportError."""
        body = report.body(self._clock.now(), self._clock.measured())
        answer = await self._post(f"/servers/{server_id}/snapshots", body)
        return Taken(
            answer["outcome"], answer["look_again_seconds"], float(answer["interval_seconds"]), tuple(answer["changes"])
        )

    async def _post(self, path: str, body: bytes | Mapping[str, Any]) -> Any:
        before = self._clock.now()
        content = {"content": body} if isinstance(body, bytes) else {"json": body}
        try:
            answer = await self._http.post(self._base + path, **content)
            after = self._clock.now()
            document = answer.json()
        except (httpx2.HTTPError, ValueError) as error:
            raise AwayError(
                f"no usable answer from driftwatch: {type(error).__name__}",
                hint="Is it running at the address of --to?",
            ) from error
        if not answer.is_success:
            raise _refusal(answer.status_code, document)
        self._clock.compare(before, datetime.fromisoformat(document["now"]), after)
        return document


def _this_machine(host: str) -> bool:
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def _refusal(status: int, document: Any) -> DriftwatchError:
    told = document if isinstance(document, dict) else {}
    kind = AwayError if status >= 500 or status in _LATER else RefusedReportError
    return kind(f"driftwatch answered {status}: {told.get('detail', '')}", hint=told.get("hint"))
