"""Who is told, where, and what people asked not to hear."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from driftwatch.web.api.models.base import Flag, Id, Moment, Name, Reason, Severity, Strict, Tag, Text

ChannelKind = Literal["slack-webhook", "slack-app", "webhook"]
Outcome = Literal["alert", "summary", "history"]
Pattern = Annotated[Text, Field(max_length=1000)]
Wanted = Annotated[list[Pattern], Field(max_length=100)]


class MatchIn(Strict):
    """What an alert must be like; an empty list asks nothing. `servers` and `tools` are globs such as `orders-*`."""

    kinds: Wanted = Field(default_factory=list)
    severities: Wanted = Field(default_factory=list)
    servers: Wanted = Field(default_factory=list)
    tags: Wanted = Field(default_factory=list)
    owners: Wanted = Field(default_factory=list)
    tools: Wanted = Field(default_factory=list)
    verdicts: Wanted = Field(default_factory=list)
    announcements: Wanted = Field(default_factory=list)
    reasons: Wanted = Field(default_factory=list)
    directions: Wanted = Field(default_factory=list)
    via: Wanted = Field(default_factory=list)
    changes: Wanted = Field(default_factory=list)
    events: Wanted = Field(default_factory=list)


class ChannelConfigIn(Strict):
    """Write-only. slack-webhook: `url`; slack-app: `token` and `conversation`; webhook: `url`, and `secret` or none."""

    url: str | None = Field(default=None, max_length=2000)
    token: str | None = Field(default=None, max_length=400)
    conversation: str | None = Field(default=None, max_length=100)
    secret: str | None = Field(default=None, max_length=200)


class ChannelIn(Strict):
    """A new channel."""

    name: Name
    kind: ChannelKind
    config: ChannelConfigIn
    accepts: MatchIn | None = Field(default=None, description="What it wants to hear; nothing: everything.")


class ChannelPatch(Strict):
    """What to change; what is left out stays."""

    name: Name | None = None
    config: ChannelConfigIn | None = None
    accepts: MatchIn | None = None
    enabled: Flag | None = None


class ChannelOut(BaseModel):
    """A channel without its secrets."""

    id: int
    name: str
    kind: str
    state: str
    disabled_reason: str | None
    accepts: dict[str, Any]
    waiting: int
    oldest_waiting_at: datetime | None
    paused_until: datetime | None = Field(default=None, description="It asked us to wait until then (Retry-After).")
    config_set: bool = True


class ChannelAdded(BaseModel):
    """A new channel. `secret` is shown this once: the receiver of a webhook needs it to check signatures."""

    channel: ChannelOut
    secret: str | None


class SecretOut(BaseModel):
    """A new signing secret, shown this once. The old one signs too for a day."""

    secret: str


class AttemptOut(BaseModel):
    """One attempt and what the channel answered. `body` may hold text from outside."""

    at: datetime
    outcome: str
    status: int | None
    error: str | None
    body: str | None
    duration_ms: float | None


class DeliveryOut(BaseModel):
    """One call to one channel. `state`: queued, leased, delivered, dead. `route`: why it goes to this channel."""

    id: int
    event: str
    action: str
    state: str
    form: str
    alert_id: int | None
    route: str | None
    tries: int
    created_at: datetime
    next_try_at: datetime | None
    delivered_at: datetime | None
    attempts: list[AttemptOut]


class RouteIn(Strict):
    """A route. The first that matches decides; one that `goes_on` adds its channels to those of the next match."""

    name: Name
    match: MatchIn = Field(default_factory=MatchIn)
    channels: list[Id] = Field(max_length=100)
    goes_on: Flag = False


class RoutePatch(Strict):
    """What to change; what is left out stays."""

    match: MatchIn | None = None
    channels: list[Id] | None = Field(default=None, max_length=100)
    goes_on: Flag | None = None


class RouteOut(BaseModel):
    """A stored route."""

    id: int
    name: str
    match: dict[str, Any]
    channels: list[int]
    goes_on: bool


class MuteAlertIn(Strict):
    """Until when, at most 90 days."""

    until: Moment
    reason: Reason = None


class MuteIn(MuteAlertIn):
    """A mute of a server, or of one of its tools by name."""

    server_id: Id
    tool: str | None = Field(default=None, max_length=1000)


class MuteOut(BaseModel):
    """A mute. It covers the alert, else the tool, else the server."""

    id: int
    server_id: int
    alert_id: int | None
    tool: str | None
    until: datetime
    reason: str | None
    created_by: str
    created_at: datetime
    ended_at: datetime | None
    ended_by: str | None


class IgnoreIn(Strict):
    """What is left out is open; at least one of server, tool, rule and pointer is given."""

    server_id: Id | None = None
    tool: str | None = Field(default=None, max_length=1000)
    rule: Text | None = Field(default=None, max_length=100)
    pointer: Text | None = Field(default=None, max_length=2000, description="Everything below it is ignored too.")
    reason: Text = Field(min_length=1, max_length=2000)
    expires_at: Moment | None = None


class IgnoreOut(BaseModel):
    """An ignore rule."""

    id: int
    server_id: int | None
    tool: str | None
    rule: str | None
    pointer: str | None
    reason: str
    expires_at: datetime | None
    created_by: str
    created_at: datetime
    ended_at: datetime | None
    ended_by: str | None


class MaintenanceIn(Strict):
    """For a server, a tag, or everything (neither)."""

    server_id: Id | None = None
    tag: Tag | None = None
    starts_at: Moment
    ends_at: Moment
    reason: Reason = None


class MaintenanceOut(BaseModel):
    """A maintenance window."""

    id: int
    server_id: int | None
    tag: str | None
    starts_at: datetime
    ends_at: datetime
    reason: str | None
    created_by: str
    created_at: datetime


class LineIn(Strict):
    """A line of the policy with another outcome, for a server, a tag, or everything (neither)."""

    line: Text = Field(max_length=100)
    outcome: Outcome
    severity: Severity | None = None
    server_id: Id | None = None
    tag: Tag | None = None


class LineOut(BaseModel):
    """A line as it holds."""

    line: str
    words: str
    outcome: str
    severity: str | None


class LineChangeOut(BaseModel):
    """A change of the policy."""

    id: int
    line: str
    outcome: str
    severity: str | None
    server_id: int | None
    tag: str | None
    created_by: str


class PolicyOut(BaseModel):
    """The lines in the order in which they are asked, and what people changed."""

    lines: list[LineOut]
    changes: list[LineChangeOut]


class DestinationOut(BaseModel):
    """A channel and whether it is told."""

    channel_id: int
    channel: str
    told: bool
    why: str


class DryRunOut(BaseModel):
    """What a change would send now. `held`: why the message would wait: maintenance, rate, muted."""

    change_id: int
    outcome: str | None
    line: str | None
    severity: str | None
    path: list[dict[str, Any]]
    held: str | None
    routes: list[dict[str, Any]]
    destinations: list[DestinationOut]
    message: dict[str, Any] | None
