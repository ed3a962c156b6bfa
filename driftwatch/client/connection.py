"""Asking a service and reading its answers: paths with parameters, JSON both ways, problems, pages."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from datetime import datetime
from functools import cache
from types import TracebackType
from typing import Any, Final, TypeVar, cast
from urllib.parse import quote

import httpx2
from pydantic import BaseModel, TypeAdapter, ValidationError

import driftwatch
from driftwatch.client.errors import RefusedError, UnreachableError
from driftwatch.errors import SettingsError
from driftwatch.web.api.models import Page
from driftwatch.web.loopback import is_loopback

T = TypeVar("T")

TIMEOUT_SECONDS: Final = 60.0
#: a registration looks at the server, and an import may name hundreds
LONG_SECONDS: Final = 900.0
_START: Final = "Is the service running? Start it with: driftwatch serve"


class Connection:
    """One service and one token. Not for several threads at once."""

    def __init__(self, url: str, token: str, *, transport: httpx2.BaseTransport | None = None) -> None:
        self._base = httpx2.URL(url.rstrip("/") or "/")
        self._http = httpx2.Client(
            base_url=f"{url.rstrip('/')}/api/v1",
            headers={"authorization": f"Bearer {token}", "user-agent": f"driftwatch/{driftwatch.__version__}"},
            timeout=TIMEOUT_SECONDS,
            transport=transport,
            # a proxy of the environment cannot reach this machine's own service
            trust_env=not _is_here(self._base.host),
        )

    def __enter__(self) -> Connection:
        """Keep connections open between questions."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close them."""
        self._http.close()

    def get(self, path: str, shape: type[T], query: Mapping[str, Any] | None = None, **ids: object) -> T:
        """The answer of a GET. ``ids`` fill the braces of the path; None in ``query`` is left out."""
        return self._ask("GET", path, shape, query, None, ids)

    def post(
        self,
        path: str,
        shape: type[T],
        query: Mapping[str, Any] | None = None,
        *,
        body: Any = None,
        slow: bool = False,
        **ids: object,
    ) -> T:
        """The answer of a POST; ``slow``: it may look at many servers before it answers."""
        return self._ask("POST", path, shape, query, body, ids, LONG_SECONDS if slow else TIMEOUT_SECONDS)

    def patch(self, path: str, shape: type[T], *, body: Any, **ids: object) -> T:
        """The answer of a PATCH."""
        return self._ask("PATCH", path, shape, None, body, ids)

    def put(self, path: str, shape: type[T], *, body: Any) -> T:
        """The answer of a PUT."""
        return self._ask("PUT", path, shape, None, body, {})

    def delete(self, path: str, **ids: object) -> None:
        """Ask for a DELETE; it has no answer."""
        self._send("DELETE", path, None, None, ids, TIMEOUT_SECONDS)

    def text(self, path: str, query: Mapping[str, Any] | None = None, **ids: object) -> str:
        """The answer of a GET that is text."""
        return self._send("GET", path, query, None, ids, TIMEOUT_SECONDS).text

    def pages(self, path: str, shape: type[T], query: Mapping[str, Any] | None = None, **ids: object) -> Iterator[T]:
        """Every item of a list, page after page, as they are asked for."""
        cursor: str | None = None
        paged = Page[shape]  # type: ignore[valid-type]  # a shape is a value here
        while True:
            page: Page[T] = self._ask("GET", path, paged, {**(query or {}), "cursor": cursor}, None, ids)
            yield from page.items
            if page.next is None:
                return
            cursor = page.next

    def _ask(
        self,
        method: str,
        path: str,
        shape: type[T],
        query: Mapping[str, Any] | None,
        body: Any,
        ids: Mapping[str, object],
        timeout: float = TIMEOUT_SECONDS,
    ) -> T:
        answer = self._send(method, path, query, body, ids, timeout)
        try:
            # Python's own reader keeps characters that UTF-8 has no bytes for: names of watched servers hold them
            found: T = _reader(cast("Hashable", shape)).validate_python(answer.json())
        except (ValueError, ValidationError) as error:
            raise UnreachableError(
                f"{self._where} answered something else than driftwatch {driftwatch.__version__} does",
                hint="Is the address right, and the service of about the same version?",
            ) from error
        return found

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None,
        body: Any,
        ids: Mapping[str, object],
        timeout: float,
    ) -> httpx2.Response:
        filled = path.format(**{name: quote(str(value), safe="") for name, value in ids.items()})
        given = {name: _plain(value) for name, value in (query or {}).items() if value is not None}
        content = {} if body is None else {"json": sent(body)}
        try:
            answer = self._http.request(method, filled, params=given, timeout=timeout, **content)
        except httpx2.HTTPError as error:
            raise UnreachableError(f"no usable answer from {self._where}: {error}", hint=_START) from error
        if not answer.is_success:
            raise self._refusal(answer)
        return answer

    @property
    def _where(self) -> str:
        return f"{self._base.scheme}://{self._base.netloc.decode()}"

    def _refusal(self, answer: httpx2.Response) -> Exception:
        try:
            problem = answer.json()
            return RefusedError(
                str(problem["detail"]), status=answer.status_code, code=str(problem["code"]), hint=problem.get("hint")
            )
        except (ValueError, KeyError, TypeError):
            return UnreachableError(f"{self._where} answered with status {answer.status_code}", hint=_START)


def sent(body: Any) -> Any:
    """A body as JSON values: of a shape only what was set, so that what is left out stays."""
    if isinstance(body, BaseModel):
        return body.model_dump(mode="json", exclude_unset=True)
    if isinstance(body, list):
        return [sent(item) for item in body]
    return body


@cache
def _reader(shape: Hashable) -> TypeAdapter[Any]:
    return TypeAdapter(cast("Any", shape))


def _plain(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, datetime) else value


def _is_here(host: str) -> bool:
    try:
        return is_loopback(host)
    except SettingsError:
        return False
