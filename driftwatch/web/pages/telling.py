"""Who was told and why, or why nobody was: the decision path and the deliveries as steps. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from driftwatch.alerts.routes import Plan
from driftwatch.alerts.views import AlertView, ChannelView, DecisionView, DeliveryView
from driftwatch.web.pages import times, words
from driftwatch.web.pages.words import State

_OUTCOMES: Final = {
    "alert": "It alerts",
    "summary": "It goes to the daily summary",
    "history": "It goes to history, nobody is told",
}
_HELD: Final = {
    "maintenance": "the server is in a maintenance window.",
    "rate": "the server had its messages for the hour; more come as one summary.",
    "muted": "it is muted; the message comes when the mute ends and it is still open.",
}
_CHANNELS: Final = {"slack-webhook": "Slack", "slack-app": "Slack", "webhook": "Webhook"}


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the path. ``hit``: it happened; else it was asked, or looked at, and did not."""

    hit: bool
    strong: str
    text: str
    aside: str = ""
    state: State | None = None


@dataclass(frozen=True, slots=True)
class Telling:
    """The fourth question answered."""

    sentence: str
    steps: tuple[Step, ...]


def tell(
    decision: DecisionView | None,
    alert: AlertView | None,
    deliveries: Sequence[DeliveryView],
    channels: Sequence[ChannelView],
    now: datetime,
    planned: Plan | None = None,
) -> Telling:
    """The path of one change, from the policy to the channels. ``planned``: where it would go by today's routes."""
    if decision is None:
        return Telling("Nobody yet: it is decided once the change has been compared and judged.", ())
    asked = [str(step.get("words", "")) for step in decision.path if not step.get("matched")]
    steps = [_decided(decision), *(_delivered(delivery, now) for delivery in deliveries)]
    if alert is not None and not deliveries and not channels:
        steps.append(Step(False, "No channel is set up.", "Set DRIFTWATCH_SLACK_WEBHOOK_URL to be told in Slack."))
    if alert is not None and alert.held:
        steps.append(Step(True, "It waits:", _HELD.get(alert.held, alert.held)))
    told = {delivery.channel for delivery in deliveries}
    left_out = [place for place in (planned.destinations if planned else ()) if not place.told]
    steps += [Step(False, p.channel, f"was not told: {p.why}.") for p in left_out if p.channel not in told]
    if asked:
        steps.append(Step(False, "", f"Asked before, and not so: {'; '.join(asked)}."))
    return Telling(_sentence(decision, alert, deliveries, channels), tuple(steps))


def _decided(decision: DecisionView) -> Step:
    matched = next((str(step.get("words", "")) for step in decision.path if step.get("matched")), "")
    severity = f", {decision.severity}" if decision.severity else ""
    return Step(
        True,
        f"{_OUTCOMES.get(decision.outcome, decision.outcome)}:",
        matched or "no line of the policy asks for more",
        f"Default policy, line {decision.line}{severity}.",
    )


def _delivered(delivery: DeliveryView, now: datetime) -> Step:
    state = words.delivery(delivery.state)
    last = delivery.attempts[-1] if delivery.attempts else None
    text = ""
    if delivery.delivered_at is not None:
        tries = "first try" if delivery.tries <= 1 else f"after {delivery.tries} tries"
        took = f", {last.duration_ms:.0f} ms" if last and last.duration_ms is not None else ""
        text = f"{times.clock(delivery.delivered_at, seconds=True)} UTC, {tries}{took}"
    elif delivery.state == "queued" and delivery.next_try_at is not None:
        text = f"next try {times.ahead(delivery.next_try_at, now)}"
    answer = (last.error or last.body or "")[:200] if last and delivery.delivered_at is None else ""
    kind = _CHANNELS.get(delivery.channel_kind, delivery.channel_kind)
    route = f", {delivery.route}" if delivery.route else ""
    aside = f"{kind}, {delivery.event.rpartition('.')[2]}{route}" + (f": {answer}" if answer else "")
    return Step(delivery.state == "delivered", delivery.channel, text, aside, state)


def _sentence(
    decision: DecisionView,
    alert: AlertView | None,
    deliveries: Sequence[DeliveryView],
    channels: Sequence[ChannelView],
) -> str:
    if alert is None:
        return {
            "summary": "Nobody at once: it is part of the daily summary.",
            "history": "Nobody. It is kept in history.",
        }.get(decision.outcome, "Nobody yet.")
    done = {delivery.channel for delivery in deliveries if delivery.state == "delivered"}
    if done:
        beside = (
            ""
            if decision.outcome == "alert"
            else " This change went along: the alert is about another one of the same deploy."
        )
        return f"{words.count(len(done), 'channel')}: {words.listed(sorted(done))}.{beside}"
    if deliveries:
        return "Nobody yet: the message is waiting to be sent."
    if alert.held:
        return "Nobody yet: the message is held back."
    return (
        "Nobody yet: changes of one deploy are collected for a moment before anyone is told."
        if channels
        else "Nobody: no channel is set up."
    )
