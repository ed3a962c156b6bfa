from __future__ import annotations

from datetime import UTC, date, datetime

from builders.changes import change, finding, part

from driftwatch.alerts.channels.slack.blocks import render
from driftwatch.alerts.notices import Blind, blind_message, summary_message, watching_message
from driftwatch.testing import slack_limits

SINCE = datetime(2026, 11, 30, 9, 12, tzinfo=UTC)
URL = "https://drift.example"


def blind(name: str = "billing", code: str = "unauthorized") -> Blind:
    return Blind(name, 4, "payments", SINCE, code, "401, wants scope tools:read", SINCE, ("modern",))


def test_one_blind_server() -> None:
    message = blind_message([blind()], URL)
    assert message.title == "◌ Not watching · billing"
    assert [p.text for p in message.paragraphs] == [
        "Unauthorized (seen by 2026-07-28 clients) since 30 Nov 09:12 UTC: 401, wants scope tools:read. "
        "What changes meanwhile goes unseen.",
        "renew the credential on the server's page.",
        "owner payments · last good poll 30 Nov 09:12 UTC",
    ]
    assert message.links[0].url == f"{URL}/servers/4"


def test_what_to_do_fits_the_reason() -> None:
    def todo(code: str) -> str:
        return blind_message([blind(code=code)], URL).paragraphs[1].text

    assert todo("token-refused") == todo("forbidden") == "renew the credential on the server's page."
    assert todo("no-token").startswith("look whether the authorization server answers")
    assert "runs and still answers" in todo("timeout")


def test_many_blind_servers_are_one_message_that_fits() -> None:
    many = [blind(f"server-{n}" * 20, "timeout" if n else "unauthorized") for n in range(300)]
    for message in (blind_message(many, URL), watching_message(many, URL)):
        assert message.title.endswith("300 servers")
        assert any(p.text.startswith("+280 more") for p in message.paragraphs)
        assert message.links[0].url == f"{URL}/"
        assert slack_limits.refusal(render(message, delivery_id="d")) is None
    assert "runs and still answers" in blind_message(many, URL).paragraphs[-1].text


def test_the_summary_groups_by_server_and_counts_the_rest() -> None:
    said = part("input", "compatible", finding("x", "info", "callers may now send `cursor`"))
    orders = [change(said, id=n, tool=f"tool{n}") for n in range(7)]
    crm = [change(id=9, server="crm", tool="new", kind="added", from_version=None)]
    message = summary_message(date(2026, 11, 30), [*orders, *crm], total=400, wording_only=3, public_url=URL)
    assert message.title == "✓ Daily summary, 30 Nov · 400 quiet changes on 2 servers"
    first, second, words = [p.text for p in message.paragraphs]
    assert first.startswith("orders — `tool0`: callers may now send `cursor` · ")
    assert first.endswith(" · +2 more tools")
    assert second == "crm — `new` is new"
    assert words == "Also 3 changes of words or hints only."


def test_the_summary_names_servers_that_say_something_else_of_themselves() -> None:
    names = [f"s{n}" for n in range(7)]
    message = summary_message(
        date(2026, 11, 30), [], total=0, wording_only=0, public_url=URL, spoke_anew=["a`<!channel>", *names]
    )
    assert message.title == "✓ Daily summary, 30 Nov · servers say something else of themselves"
    (told,) = [p.text for p in message.paragraphs]
    assert told.startswith("What they say of themselves (instructions, serverInfo, protocol) changed on ")
    assert told.endswith("`s3` and 3 more.")
