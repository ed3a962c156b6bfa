"""The main job on a real mcp 2.x server: register, poll, version, classify, judge, alert, browse."""

from __future__ import annotations

from typing import Any

from acceptance.harness import Deployment, Service, Slack, eventually, mcp2


def of_kind(changes: list[dict[str, Any]], tool: str) -> list[dict[str, Any]]:
    return [change for change in changes if change["tool"] == tool]


def test_registering_answers_with_the_eras_and_tools_found(service: Service, deployment: Deployment) -> None:
    deployment.deploy(mcp2())
    preview = service.post("/servers", {"url": deployment.url}, status=200, dry_run=True)
    assert {era["era"] for era in preview["eras"]} == {"legacy", "modern"}
    assert not [s for s in service.get("/servers")["items"] if s["url"] == deployment.url]

    registered = service.register(deployment.url, name="found", tags=["prod"], owner="payments")
    found = {era["era"]: era for era in registered["found"]}
    assert set(found) == {"legacy", "modern"}
    assert set(found["modern"]["tools"]) == {"get_order", "search", "list_ids"}
    assert found["modern"]["outputs_declared"] == 3
    server = registered["server"]
    assert (server["name"], server["tags"], server["owner"], server["interval_seconds"]) == (
        "found",
        ["prod"],
        "payments",
        1,
    )
    tools = service.get(f"/servers/{server['id']}/tools")
    assert sorted(tool["name"] for tool in tools if tool["era"] == "legacy") == ["get_order", "list_ids", "search"]
    assert {tool["current_version"] for tool in tools} == {1}


def test_a_silent_breaking_change_is_proved_judged_and_told_once(
    service: Service, slack: Slack, deployment: Deployment
) -> None:
    deployment.deploy(mcp2())
    server = service.register(deployment.url, name="shop", owner="payments")["server"]["id"]
    deployment.control(flags="null")
    changes = eventually(
        lambda: (lambda found: found if len(found) == 2 else None)(service.changes(server)), because="both eras changed"
    )
    assert {change["era"] for change in changes} == {"legacy", "modern"}
    for change in changes:
        assert (change["tool"], change["kind"], change["part"]) == ("get_order", "changed", "output")
        assert (change["from_version"], change["to_version"]) == (1, 2)
        assert change["verdict"] == "breaking"
        assert change["witness"]["value"]["status"] is None
        assert (change["announcement"], change["announcement_reason"]) == ("silent", "not-declared")
        assert change["window"]["start"] < change["window"]["end"]
    detail = service.get(f"/changes/{changes[0]['id']}")
    assert "output-null-added" in {finding["rule"] for part in detail["parts"] for finding in part["findings"]}
    assert detail["evidence"]["announcement"] == "silent"
    assert changes[0]["changeset_id"] == changes[1]["changeset_id"]

    def told() -> list[dict[str, Any]]:
        return [message for message in slack.messages() if "shop" in message["text"]]

    eventually(told, because="the message arrived")
    service.poll_and_wait(server)
    (message,) = told()
    assert "get_order" in message["text"]
    assert "status" in str(message["blocks"])
    assert "null" in str(message["blocks"])


def test_noise_is_recorded_and_nobody_is_told(service: Service, slack: Slack, deployment: Deployment) -> None:
    deployment.deploy(mcp2())
    server = service.register(deployment.url, name="reworded")["server"]["id"]
    deployment.control(flags="describe")
    changes = eventually(lambda: service.changes(server), because="the description changed")
    assert {(change["tool"], change["part"], change["verdict"]) for change in changes} == {
        ("get_order", "text", "compatible")
    }
    service.poll_and_wait(server)
    assert not [message for message in slack.messages() if "reworded" in message["text"]]
    detail = service.get(f"/changes/{changes[0]['id']}")
    assert detail["alert_id"] is None
    assert detail["decision"]["outcome"] == "history"


def test_an_enum_value_and_an_optional_key_break_cached_clients(service: Service, deployment: Deployment) -> None:
    deployment.deploy(mcp2())
    server = service.register(deployment.url, name="enum", eras=["modern"])["server"]["id"]
    deployment.control(flags="enum")
    (enum,) = eventually(lambda: service.changes(server))
    assert enum["verdict"] == "breaking"
    assert enum["witness"]["value"]["state"] == "archived"
    deployment.control(flags="enum,optional")
    optional = eventually(lambda: service.changes(server)[1:], because="the second change")[0]
    assert optional["verdict"] == "breaking"
    rules = {finding["rule"] for part in optional["parts"] for finding in part["findings"]}
    assert "output-property-made-optional" in rules


def test_a_new_required_argument_breaks_callers(service: Service, deployment: Deployment) -> None:
    deployment.deploy(mcp2())
    server = service.register(deployment.url, name="caller", eras=["modern"])["server"]["id"]
    deployment.control(flags="argument")
    (change,) = eventually(lambda: service.changes(server))
    assert (change["tool"], change["part"], change["verdict"]) == ("search", "input", "breaking")
    assert "region" not in change["witness"]["value"]
    assert "query" in change["witness"]["value"]


def test_tools_come_go_and_return_with_their_number(service: Service, slack: Slack, deployment: Deployment) -> None:
    deployment.deploy(mcp2())
    server = service.register(deployment.url, name="comings", eras=["modern"])["server"]["id"]
    deployment.control(flags="add,nonascii")
    added = eventually(lambda: (lambda found: found if len(found) == 2 else None)(service.changes(server)))
    assert {(c["tool"], c["kind"], c["verdict"]) for c in added} == {
        ("track_order", "added", "compatible"),
        ("zähle_数据", "added", "compatible"),
    }
    deployment.control(flags="add,nonascii,remove")
    (removed,) = eventually(lambda: of_kind(service.changes(server), "list_ids"), because="list_ids is gone")
    assert (removed["kind"], removed["verdict"], removed["to_version"]) == ("removed", "breaking", None)
    deployment.control(flags="add,nonascii")
    restored = eventually(lambda: of_kind(service.changes(server), "list_ids")[1:], because="list_ids is back")[0]
    assert (restored["kind"], restored["to_version"]) == ("restored", 1)
    tool = next(t for t in service.get(f"/servers/{server}/tools") if t["name"] == "list_ids")
    (version,) = service.get(f"/tools/{tool['id']}/versions")["items"]
    assert [interval["valid_to"] is None for interval in version["intervals"]] == [False, True]


def test_a_redeploy_of_the_same_contract_is_no_change(service: Service, deployment: Deployment) -> None:
    deployment.deploy(mcp2("add"))
    server = service.register(deployment.url, name="same")["server"]["id"]
    deployment.deploy(mcp2("add"))
    service.poll_and_wait(server)
    assert service.changes(server) == []
    assert {profile["state"] for profile in service.get(f"/servers/{server}")["profiles"]} == {"ok"}


def test_a_redeploy_with_another_contract_is_silent_by_restart(service: Service, deployment: Deployment) -> None:
    deployment.deploy(mcp2())
    server = service.register(deployment.url, name="restarted")["server"]["id"]
    deployment.stop()
    eventually(
        lambda: any(p["state"] not in {"ok", "new"} for p in service.get(f"/servers/{server}")["profiles"]),
        because="the outage was seen",
    )
    deployment.deploy(mcp2("null"))
    service.poll(server)
    changes = eventually(lambda: service.changes(server))
    assert {change["announcement"] for change in changes} == {"silent"}
    assert "restart" in {change["announcement_reason"] for change in changes}


def test_versions_and_differences_can_be_read(service: Service, deployment: Deployment) -> None:
    deployment.deploy(mcp2())
    server = service.register(deployment.url, name="versions", eras=["modern"])["server"]["id"]
    deployment.control(flags="null")
    eventually(lambda: service.changes(server))
    tool = next(t for t in service.get(f"/servers/{server}/tools") if t["name"] == "get_order")
    assert (tool["current_version"], tool["baseline_version"]) == (2, 1)
    versions = service.get(f"/tools/{tool['id']}/versions")["items"]
    assert sorted(version["number"] for version in versions) == [1, 2]
    first = service.get(f"/tools/{tool['id']}/versions/1")
    assert first["definition"]["outputSchema"]["properties"]["status"]["type"] == "string"
    difference = service.client.get(f"/tools/{tool['id']}/diff", params={"from": 1, "to": 2}).json()
    assert difference["verdict"] == "breaking"
    assert any("status" in path["pointer"] for part in difference["parts"] for path in part["paths"])


def test_accepting_moves_the_baseline_and_closes_the_alert(
    service: Service, slack: Slack, deployment: Deployment
) -> None:
    deployment.deploy(mcp2())
    server = service.register(deployment.url, name="pinned", eras=["modern"], mode="pinned")["server"]["id"]
    deployment.control(flags="null")
    (change,) = eventually(lambda: service.changes(server))
    alert = eventually(lambda: service.get(f"/changes/{change['id']}")["alert_id"], because="an alert is open")
    service.post(f"/alerts/{alert}/acknowledge", {})
    assert service.get(f"/alerts/{alert}")["state"] == "acknowledged"
    refused = service.client.post(f"/alerts/{alert}/accept", json={})
    assert refused.status_code == 422
    assert refused.headers["content-type"] == "application/problem+json"
    service.post(f"/alerts/{alert}/accept", {"reason": "carriers may be pending"})
    closed = service.get(f"/alerts/{alert}")
    assert closed["state"] == "accepted"
    assert closed["events"][-1]["reason"] == "carriers may be pending"
    tool = next(t for t in service.get(f"/servers/{server}/tools") if t["name"] == "get_order")
    assert tool["baseline_version"] == 2
