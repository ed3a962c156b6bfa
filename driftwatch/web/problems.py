"""Errors as answers: RFC 9457 problem documents for the API, pages for browsers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

MEDIA_TYPE = "application/problem+json"


class Problem(BaseModel):
    """RFC 9457. ``code`` is stable; ``hint`` says what to do next."""

    type: str = Field(examples=["urn:driftwatch:problem:not-found"])
    title: str = Field(examples=["Not found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["there is no server 42"])
    code: str = Field(examples=["not-found"])
    hint: str | None = Field(default=None, examples=["GET /api/v1/servers lists what is watched"])


TITLES: Mapping[int, str] = {
    400: "Bad request",
    401: "Not signed in",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    413: "Too large",
    422: "Cannot be accepted",
    429: "Too many attempts",
    500: "Something broke here",
    503: "Not ready",
}


def problem(
    status: int,
    code: str,
    detail: str,
    *,
    hint: str | None = None,
    headers: Mapping[str, str] | None = None,
    **extra: Any,
) -> JSONResponse:
    """A problem answer."""
    body = Problem(
        type=f"urn:driftwatch:problem:{code}",
        title=TITLES.get(status, "Error"),
        status=status,
        detail=detail,
        code=code,
        hint=hint,
    ).model_dump(exclude_none=True)
    return JSONResponse({**body, **extra}, status_code=status, media_type=MEDIA_TYPE, headers=dict(headers or {}))
