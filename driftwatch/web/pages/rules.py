"""The rules, as documentation inside the product: what each one says, to whom it matters, and its example."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from driftwatch.classify.findings import RULES
from driftwatch.web.auth.dependencies import PageVisitor
from driftwatch.web.pages.render import render

if TYPE_CHECKING:
    from driftwatch.app import Services


def router(services: Services) -> APIRouter:
    """The route of the list of rules; it needs no database, so ``services`` is not looked at."""
    pages = APIRouter()

    @pages.get("/rules")
    async def rules(request: Request, visitor: PageVisitor) -> HTMLResponse:
        shown = [(rule, _pretty(rule.example.before), _pretty(rule.example.after)) for rule in RULES.values()]
        return render(request, "rules.html", visitor=visitor, rules=shown)

    return pages


def _pretty(value: object) -> str:
    return "not there" if value is None else json.dumps(value, indent=2, ensure_ascii=False)
