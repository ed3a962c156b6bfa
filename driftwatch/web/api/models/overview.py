"""The fleet: how many servers stand how, and each in one line; what a search finds."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from driftwatch.web.api.models.base import EraName, Verdict

StandingName = Literal["needs", "blind", "fine"]


class OverviewOut(BaseModel):
    """How many servers stand how, and the labels there are to filter by, the most used first."""

    servers: int
    needs: int = Field(description="Servers with an open alert of drift.")
    blind: int = Field(description="Servers that cannot be read at the moment, or are paused.")
    fine: int
    last_poll_at: datetime | None
    tags: list[str]
    owners: list[str]


class WeekOut(BaseModel):
    """Changes in one week by verdict; `ago` 0 is the last seven days. `none`: not assessed yet."""

    ago: int
    verdicts: dict[str, int]


class LastChangeOut(BaseModel):
    """A server's newest change."""

    id: int
    verdict: Verdict | None
    at: datetime


class StandingOut(BaseModel):
    """One server in one line."""

    server_id: int
    server: str
    owner: str | None
    tags: list[str]
    eras: list[EraName]
    tools: int | None = Field(description="Of the kind of client that sees most; None before the first poll.")
    standing: StandingName
    state: str = Field(examples=["needs you"])
    why: str = Field(examples=["get_order, since 14:02"])
    last_poll_at: datetime | None
    last_change: LastChangeOut | None
    weeks: list[WeekOut] = Field(description="The last 13 weeks, newest first; those without changes are left out.")


class FoundServer(BaseModel):
    """A server whose name, URL, owner or tags have the words."""

    server_id: int
    server: str


class FoundTool(BaseModel):
    """A tool in one profile whose name, or one of whose fields, has the words."""

    tool_id: int
    tool: str
    server_id: int
    server: str
    era: EraName
    part: str | None = Field(default=None, description="The part of the contract that has the field.")
    field: str | None = None


class FoundRule(BaseModel):
    """A rule whose id has the words."""

    rule: str
    level: str
    words: str


class SearchOut(BaseModel):
    """What a search found, nearest first; `more` names the kinds of which there are more than `limit`."""

    servers: list[FoundServer]
    tools: list[FoundTool]
    fields: list[FoundTool]
    rules: list[FoundRule]
    more: list[Literal["servers", "tools", "fields", "rules"]]
