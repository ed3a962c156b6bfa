"""The rules, for programs."""

from __future__ import annotations

from fastapi import APIRouter

from driftwatch.classify.findings import page
from driftwatch.web.api.models import RuleOut
from driftwatch.web.auth.dependencies import Reader

router = APIRouter(tags=["rules"])


@router.get("/rules", summary="What each rule says, and to whom it matters")
async def list_rules(who: Reader) -> list[RuleOut]:
    """In the order of the registry, each with its smallest case. Findings name their rule by `id`."""
    return [RuleOut.model_validate(rule) for rule in page.as_data()]
