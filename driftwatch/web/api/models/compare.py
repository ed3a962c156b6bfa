"""Two contracts compared without a registered server."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from driftwatch.web.api.models.base import Verdict
from driftwatch.web.api.models.changes import PartOut

_STRING: Final[dict[str, Any]] = {"type": "object", "properties": {"status": {"type": "string"}}}
_NULLABLE: Final[dict[str, Any]] = {"type": "object", "properties": {"status": {"type": ["string", "null"]}}}
_INPUT: Final[dict[str, Any]] = {"type": "object", "properties": {"region": {"type": "string"}}}

#: bodies of the three kinds; each is sent by a test
EXAMPLES: Final[dict[str, dict[str, Any]]] = {
    "schemas": {
        "summary": "Two output schemas",
        "value": {"old": _STRING, "new": _NULLABLE, "direction": "output", "root": "object"},
    },
    "tools": {
        "summary": "Two tools",
        "value": {
            "old": {"name": "get_order", "inputSchema": _INPUT, "outputSchema": _STRING},
            "new": {
                "name": "get_order",
                "inputSchema": {**_INPUT, "required": ["region"]},
                "outputSchema": _NULLABLE,
            },
            "era": "legacy",
        },
    },
    "lists": {
        "summary": "Two tools/list results",
        "value": {
            "old": {"tools": [{"name": "search", "inputSchema": {"type": "object"}}]},
            "new": {"tools": []},
        },
    },
}


class ComparedOut(BaseModel):
    """One tool that differs, or the bare schema."""

    tool: str | None = Field(description="None: two bare schemas were compared.")
    verdict: Verdict
    via: str | None
    part: str | None = Field(description="The part that decided the verdict.")
    parts: list[PartOut]


class CompareOut(BaseModel):
    """What NEW means for a client that holds OLD. ``changes`` is empty where both say the same."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "verdict": "breaking",
                    "changes": [
                        {
                            "tool": None,
                            "verdict": "breaking",
                            "via": "declared",
                            "part": "output",
                            "parts": [
                                {
                                    "part": "output",
                                    "verdict": "breaking",
                                    "via": "declared",
                                    "witness": {"value": {"status": None}},
                                    "clients": [
                                        {
                                            "client": "ts1",
                                            "refuses": True,
                                            "message": "data/status must be string",
                                            "pointer": "/status",
                                        }
                                    ],
                                }
                            ],
                        }
                    ],
                }
            ]
        }
    )

    verdict: Verdict = Field(description="The worst of all changes; compatible where nothing differs.")
    changes: list[ComparedOut]
