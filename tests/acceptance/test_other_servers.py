"""Servers of other SDKs and eras, and published ones, redeployed from an older to a newer release."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from acceptance.harness import Deployment, Service, Slack, eventually, mcp1, mcp2, node


@pytest.mark.parametrize("stateless", [False, True])
def test_mcp_1_27(service: Service, deployment: Deployment, stateless: bool) -> None:
    deployment.deploy(mcp1(stateless=stateless))
    registered = service.register(deployment.url, name=f"mcp1-{stateless}")
    assert [era["era"] for era in registered["found"]] == ["legacy"]
    server = registered["server"]["id"]
    deployment.deploy(mcp1("null", stateless=stateless))
    service.poll(server)
    (change,) = eventually(lambda: service.changes(server))
    assert (change["tool"], change["verdict"]) == ("get_order", "breaking")
    assert change["witness"]["value"]["status"] is None


@pytest.mark.parametrize(("script", "eras"), [("ts1.mjs", {"legacy"}), ("ts2.mjs", {"legacy", "modern"})])
def test_typescript_sdks(service: Service, slack: Slack, deployment: Deployment, script: str, eras: set[str]) -> None:
    deployment.deploy(node(script, "{port}"))
    registered = service.register(deployment.url, name=script)
    assert {era["era"] for era in registered["found"]} == eras
    server = registered["server"]["id"]
    deployment.deploy(node(script, "{port}", "null"))
    service.poll(server)
    changes = eventually(
        lambda: (lambda found: found if len(found) == len(eras) else None)(service.changes(server)), because="each era"
    )
    assert {(change["tool"], change["verdict"]) for change in changes} == {("get_order", "breaking")}
    assert all(change["witness"]["value"]["status"] is None for change in changes)
    eventually(lambda: [m for m in slack.messages() if script.split(".")[0] in m["text"]], because="the message")


PUBLISHED = {
    "everything": (["node_modules/everything-{release}/dist/index.js", "streamableHttp"], {"PORT": "{port}"}),
    "git": (
        ["node_modules/git-{release}/dist/index.js"],
        {"MCP_TRANSPORT_TYPE": "http", "MCP_HTTP_PORT": "{port}", "MCP_HTTP_HOST": "127.0.0.1"},
    ),
    "context7": (["node_modules/context7-{release}/dist/index.js", "--transport", "http", "--port", "{port}"], {}),
    "brave": (
        ["node_modules/brave-{release}/dist/index.js", "--transport", "http", "--port", "{port}", "--host=127.0.0.1"],
        {"BRAVE_API_KEY": "none"},
    ),
}


def run_release(deployment: Deployment, name: str, release: str, folder: Path) -> None:
    command, env = PUBLISHED[name]
    script, *arguments = [word.replace("{release}", release) for word in command]
    deployment.deploy(
        node(script, *arguments),
        env={**env, "LOGS_DIR": str(folder / "logs"), "HOME": str(folder)},
        cwd=folder,
    )


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_published_servers_from_an_older_to_a_newer_release(
    service: Service, slack: Slack, deployment: Deployment, tmp_path: Path, name: str
) -> None:
    run_release(deployment, name, "old", tmp_path)
    registered = service.register(deployment.url, name=f"published-{name}")
    server = registered["server"]["id"]
    assert all(era["tools"] for era in registered["found"])
    service.poll_and_wait(server)
    assert service.changes(server) == [], "the same release polled again is no change"
    run_release(deployment, name, "new", tmp_path)
    service.poll(server)

    def settled() -> list[dict[str, Any]] | None:
        page = service.get("/changes", server=server, limit=200)["items"]
        return page if page and all(change["state"] == "judged" for change in page) else None

    changes = eventually(settled, because="the new release is recorded and judged")
    assert all(change["verdict"] in {"compatible", "breaking", "undecided", "invalid"} for change in changes)
    for change in changes:
        if change["verdict"] == "breaking" and change["kind"] == "changed":
            assert change["witness"] is not None, change

    def decisions() -> list[dict[str, Any]] | None:
        found = [service.get(f"/changes/{change['id']}")["decision"] for change in changes]
        return found if all(found) else None

    decided = eventually(decisions, because="policy decided about every change")
    if any(decision["outcome"] == "alert" for decision in decided):
        eventually(
            lambda: [m for m in slack.messages() if f"published-{name}" in m["text"]], because="the message arrived"
        )


def tool(name: str, **extra: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object", "properties": {}}, **extra}


@pytest.fixture
def raw(deployment: Deployment, tmp_path: Path) -> Any:
    """A server that lists what is written into a file; the function writes it."""
    import sys

    from acceptance.harness import HERE

    file = tmp_path / "deployed.json"

    def write(*pages: list[Any], **extra: Any) -> None:
        fresh = tmp_path / "next.json"
        fresh.write_text(json.dumps({"pages": pages, **extra}))
        fresh.replace(file)

    write([tool("a")])
    deployment.deploy([sys.executable, str(HERE / "servers" / "raw_server.py"), "{port}", str(file)])
    return write


def test_a_change_on_the_second_page_is_seen(service: Service, deployment: Deployment, raw: Any) -> None:
    closed = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    opened = {"type": "object", "properties": {"n": {"type": "integer"}}}
    raw([tool("a")], [tool("b", outputSchema=closed)])
    registered = service.register(deployment.url, name="pages", eras=["modern"])
    assert registered["found"][0]["tools"] == ["a", "b"]
    server = registered["server"]["id"]
    raw([tool("a")], [tool("b", outputSchema=opened)])
    (change,) = eventually(lambda: service.changes(server))
    assert (change["tool"], change["verdict"], change["witness"]) == ("b", "breaking", {"value": {}})


def test_a_broken_tool_does_not_hide_the_good_ones(service: Service, deployment: Deployment, raw: Any) -> None:
    broken = {"name": "broken", "inputSchema": {"type": "object", "properties": 7}}
    raw([tool("good", outputSchema={"type": "object"}), broken, None, {"name": ""}])
    server = service.register(deployment.url, name="broken", eras=["modern"])["server"]["id"]
    listed = {t["name"]: t for t in service.get(f"/servers/{server}/tools")}
    assert listed["good"]["invalid"] is None
    assert listed["broken"]["invalid"] is not None
    raw([tool("good"), broken, None, {"name": ""}])
    (change,) = eventually(lambda: service.changes(server))
    assert (change["tool"], change["verdict"], change["witness"]) == ("good", "breaking", {"absent": True})


def test_a_definition_that_sdks_refuse_is_invalid(service: Service, deployment: Deployment, raw: Any) -> None:
    raw([tool("read_text")])
    server = service.register(deployment.url, name="collapsed", eras=["modern"])["server"]["id"]
    raw([{"name": "read_text", "inputSchema": {"$schema": "http://json-schema.org/draft-07/schema#"}}])
    (change,) = eventually(lambda: service.changes(server))
    assert change["verdict"] == "invalid"


def test_a_list_changed_on_the_reply_stream_counts(service: Service, deployment: Deployment, raw: Any) -> None:
    raw([tool("a")], declared=True)
    server = service.register(deployment.url, name="announced", eras=["modern"])["server"]["id"]
    raw([tool("a", outputSchema={"type": "object"})], declared=True, announce=True)
    (change,) = eventually(lambda: service.changes(server))
    assert (change["announcement"], change["announcement_reason"]) == ("announced", None)


def test_a_declared_change_without_a_stream_that_could_carry_it_cannot_be_delivered(
    service: Service, deployment: Deployment, raw: Any
) -> None:
    raw([tool("a", outputSchema={"type": "object"})], declared=True)
    server = service.register(deployment.url, name="declared", eras=["modern"])["server"]["id"]
    raw([tool("a")], declared=True)

    def silent() -> dict[str, Any] | None:
        found = service.changes(server)
        return found[0] if found and found[0]["announcement"] == "silent" else None

    change = eventually(silent, because="the answer is amended once we tried to listen")
    assert (change["verdict"], change["announcement_reason"]) == ("breaking", "cannot-deliver")


def test_an_empty_list_is_not_a_removal_at_once(service: Service, deployment: Deployment, raw: Any) -> None:
    raw([tool("a")])
    server = service.register(deployment.url, name="emptied", eras=["modern"])["server"]["id"]
    raw([])
    service.poll_and_wait(server, times=1)
    raw([tool("a")])
    service.poll_and_wait(server, times=3)
    assert service.changes(server) == []


def test_unreachable_servers_are_refused_unless_forced(service: Service, deployment: Deployment) -> None:
    refused = service.post("/servers", {"url": deployment.url, "name": "nobody"}, status=422)
    assert refused["code"] in {"refused", "unreachable"}
    forced = service.post("/servers", {"url": deployment.url, "name": "nobody"}, status=201, force=True)
    server = forced["server"]["id"]
    deployment.deploy(mcp2())
    service.poll(server)
    eventually(
        lambda: {p["state"] for p in service.get(f"/servers/{server}")["profiles"]} == {"ok"},
        because="a forced server is watched once it answers",
    )
