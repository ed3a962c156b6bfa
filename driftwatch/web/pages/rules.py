"""The rules, as documentation inside the product: what each one says, to whom it matters, and its example."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from driftwatch.classify.findings import RULES
from driftwatch.classify.findings.rule import Rule
from driftwatch.errors import NotFoundError
from driftwatch.web.auth.dependencies import PageVisitor
from driftwatch.web.pages.render import render

if TYPE_CHECKING:
    from driftwatch.app import Services


def router(services: Services) -> APIRouter:
    """The routes of the rules; they need no database, so ``services`` is not looked at."""
    pages = APIRouter()

    @pages.get("/rules")
    async def rules(request: Request, visitor: PageVisitor) -> HTMLResponse:
        return _shown(request, visitor, list(RULES.values()))

    @pages.get("/rules/{rule_id}")
    async def rule(request: Request, visitor: PageVisitor, rule_id: str) -> HTMLResponse:
        """One rule, opened: where a finding leads."""
        if rule_id not in RULES:
            raise NotFoundError("there is no such rule", hint="the list of rules has all of them")
        return _shown(request, visitor, [RULES[rule_id]])

    return pages


def _shown(request: Request, visitor: PageVisitor, rules: list[Rule]) -> HTMLResponse:
    shown = [(rule, _pretty(rule.example.before), _pretty(rule.example.after)) for rule in rules]
    return render(request, "rules.html", visitor=visitor, rules=shown, of=len(RULES))


def _pretty(value: object) -> str:
    return "not there" if value is None else json.dumps(value, indent=2, ensure_ascii=False)
