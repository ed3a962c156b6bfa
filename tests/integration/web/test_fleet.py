"""The overview's short reads say what the whole ones say."""

from __future__ import annotations

from typing import Any

from driftwatch.alerts import heads_store, read
from driftwatch.web.pages import fleet, fleet_store
from driftwatch.web.pages.fleet_store import Wanted


async def test_the_head_of_an_alert_is_its_leading_change_and_counts_its_tools(visitor: Any) -> None:
    async with visitor.world.services.db.transaction() as session:
        heads = await heads_store.open_heads(session)
        whole = {alert.id: alert for alert in await read.open_alerts(session)}
        of_files = await heads_store.server_heads(session, visitor.world.servers["files"])
    assert {head.id for head in heads} == set(whole)
    for head in heads:
        alert = whole[head.id]
        lead, expected = fleet.lead(head), fleet.lead(alert)
        assert lead is not None
        assert expected is not None
        assert (lead.change_id, lead.tool, lead.verdict, lead.outcome) == (
            expected.change_id,
            expected.tool,
            expected.verdict,
            expected.outcome,
        )
        assert head.tools == alert.tools
    assert [(head.server, head.tools) for head in of_files] == [("files", 13)]


async def test_how_a_server_stands_is_the_same_in_the_tally_and_in_its_line(visitor: Any) -> None:
    async with visitor.world.services.db.transaction() as session:
        watched = await fleet_store.stands(session, Wanted())
        alerts = await heads_store.open_heads(session)
        rows = await fleet_store.rows(session, [one.id for one in watched])
    lines = {line.id: line for line in fleet.lines(rows, alerts, visitor.world.now)}
    stands = fleet.standing(watched, alerts)
    assert [(key, lines[key].standing) for key, _ in stands] == stands
    assert {how for _, how in stands} == {"needs", "blind", "fine"}


async def test_a_long_fleet_comes_in_pages(visitor: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("driftwatch.web.pages.overview.MAX_LINES", 4)
    first = await visitor.get("/")
    assert "1 to 4 of 9 servers." in first
    assert 'href="/?after=4">Next' in first
    last = await visitor.get("/?after=8")
    assert "9 to 9 of 9 servers." in last
    assert 'href="/?after=4">Previous' in last
    assert "Next" not in last
    assert "<h1>4 need you</h1>" in last
