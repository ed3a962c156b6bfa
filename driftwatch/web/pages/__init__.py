"""Server-rendered pages: complete without script, strict about what they load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter

if TYPE_CHECKING:
    from driftwatch.app import Services


def router(services: Services) -> APIRouter:
    """Every page."""
    # Here, not above: web.auth renders its sign-in pages with this package's templates and is imported by the pages.
    from driftwatch.web.pages import (
        against,
        changelog,
        changes,
        channels,
        guides,
        overview,
        past,
        policy,
        quieting,
        registration,
        rules,
        servers,
        tools,
    )

    pages = APIRouter(include_in_schema=False)
    for page in (
        overview,
        registration,
        servers,
        past,
        tools,
        against,
        changes,
        changelog,
        rules,
        channels,
        quieting,
        policy,
        guides,
    ):
        pages.include_router(page.router(services))
    return pages
