"""Webhook events: their schemas are in the documentation, and real events fit them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import jsonschema
import pytest
from builders.changes import BROKEN_OUTPUT, change

from driftwatch.alerts import events
from driftwatch.alerts.channels.answer import Sending
from driftwatch.alerts.message import Message, Paragraph, Told

DOCS = Path(__file__).parents[3] / "docs" / "webhooks"


@pytest.mark.parametrize("name", events.EVENTS)
def test_the_schema_of_every_event_is_in_the_documentation(name: str) -> None:
    documented = json.loads((DOCS / f"{name}.v{events.VERSION}.json").read_text())
    assert documented == events.schemas()[name]
    assert f"`{name}`" in (DOCS / "README.md").read_text()


def test_nothing_else_is_documented() -> None:
    assert {page.name for page in DOCS.glob("*.json")} == {f"{n}.v{events.VERSION}.json" for n in events.EVENTS}


def drift() -> dict[str, object]:
    told = Told(change(BROKEN_OUTPUT), "silent-break", "alert", "critical")
    return events.to_data(
        events.Drift(
            server=events.ServerData(1, "orders", None, ("prod",)),
            alert=events.AlertData(1, "drift", "open", "critical", "title", "https://d.example/alerts/1"),
            changes=(events.change_data(told, "https://d.example"),),
            actor="driftwatch",
        )
    )


@pytest.mark.parametrize("name", [name for name, data in events.EVENTS.items() if data is events.Drift])
def test_a_drift_event_fits_its_schema(name: str) -> None:
    body = events.body_of(Sending(Message("t", "t", (), ()), "d", event=name, data=drift()), datetime.now(UTC))
    jsonschema.Draft202012Validator(events.schemas()[name]).validate(json.loads(json.dumps(body)))


def test_events_of_words_fit_their_schema() -> None:
    message = Message("t", "t", (Paragraph("text", "x"),), ())
    body = events.body_of(Sending(message, "d", event="summary"), datetime.now(UTC))
    jsonschema.Draft202012Validator(events.schemas()["summary"]).validate(body)
