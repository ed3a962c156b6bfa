"""The messages of the watched world, as the fake Slack received them through the real outbox."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from browser.world import World, seed, services_on
from sqlalchemy import text

from driftwatch.alerts import blindness, channel_actions, outbox, summary
from driftwatch.alerts.actions import By
from driftwatch.app import Services
from driftwatch.db.engine import run_sql
from driftwatch.testing.fake_slack import FakeSlack, serve

CONVERSATION = "C0ALERTS"


@asynccontextmanager
async def told(url: str, home: Path) -> AsyncIterator[str]:
    """The address of an inbox that holds what a Slack app was sent about the whole world, the daily summary last."""
    fake = FakeSlack()
    async with serve(fake) as webhook, services_on(url, home) as plain:
        inbox = webhook.partition("/services/")[0]
        given = {
            "slack_api_url": f"{inbox}/api/",
            "slack_allow_hosts": ("127.0.0.1",),
            "base_url": "https://driftwatch.example.com",
        }
        settings = type(plain.settings).model_validate({**plain.settings.model_dump(), **given})
        services = replace(plain, settings=settings)
        await _tell(services)
        assert not fake.refused
        yield f"{inbox}/"


async def _tell(services: Services) -> None:
    async with services.db.transaction() as session:
        now = (await run_sql(session, text("SELECT clock_timestamp()"))).scalar_one()
        config = {"token": "xoxb-fake", "conversation": CONVERSATION}
        await channel_actions.add(
            session, services.settings, services.secrets, By("mei"), name="alerts", kind="slack-app", given=config
        )
    await seed(World(services, now))
    async with services.db.transaction() as session:
        await blindness.raise_blind(session, services.settings)
    await outbox.deliver_due(services, limit=1000)
    async with services.db.transaction() as session:
        # the quiet changes of the world become yesterday's
        await run_sql(
            session, text("INSERT INTO daily_summary (day, at) VALUES (now()::date - 2, now() - interval '2 days')")
        )
        await run_sql(session, text("UPDATE alert_decision SET at = now() - interval '25 hours'"))
        await summary.raise_summary(session, services.settings)
    await outbox.deliver_due(services, limit=1000)
