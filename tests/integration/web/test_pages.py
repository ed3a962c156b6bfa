"""Every page over a seeded history, as a browser without script would see it."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import Iterator
from datetime import timedelta
from html.parser import HTMLParser
from typing import Any

import httpx2
import pytest
from browser.world import BIDI_NAME, LONG_NAME, MARKUP_NAME, World
from sqlalchemy import text
from sqlmodel import select

from driftwatch.app import Services
from driftwatch.db.engine import run_sql
from driftwatch.history.tables import Change
from driftwatch.servers.model import ServerSpec
from driftwatch.servers.pushed import find_or_register
from driftwatch.testing.shop import Shop

pytestmark = pytest.mark.postgres


@pytest.fixture
def nobody() -> Iterator[str]:
    """An address where nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}/mcp"


VOID = {"meta", "link", "input", "br", "img", "hr"}


class Structure(HTMLParser):
    """Finds what a browser would quietly repair: unclosed or crossed tags, duplicate ids."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.images: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.ids += [known["id"]] if known.get("id") else []
        self.links += [known["href"]] if tag == "a" and known.get("href") else []
        self.images += [tag] if tag == "img" else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, f"</{tag}> at {self.getpos()}"


def structure(html: str) -> Structure:
    found = Structure()
    found.feed(html)
    found.close()
    assert found.open == []
    assert len(found.ids) == len(set(found.ids)), sorted(found.ids)
    return found


def paths(world: World) -> list[str]:
    return [
        "/",
        "/?q=orders",
        "/?q=get_order",
        "/?state=blind",
        "/?tag=prod",
        "/?q=%00%25_",
        "/changelog",
        f"/changelog?server={world.servers['orders']}&verdict=breaking",
        "/servers/new",
        "/servers/import",
        *(f"/servers/{key}" for key in world.servers.values()),
        *(f"/tools/{key}" for key in world.tools.values()),
        *(
            f"/tools/{world.tools['orders', 'get_order']}?{query}"
            for query in ("view=raw", "from=1&to=1", "from=2&to=1", "from=first", "from=baseline&view=raw")
        ),
        *(f"/changes/{key}" for key in world.changes.values()),
        *(f"/changesets/{key}" for key in world.changesets.values()),
    ]


async def test_every_page_is_sound_and_every_link_leads_somewhere(visitor: Any) -> None:
    links: set[str] = set()
    for path in paths(visitor.world):
        html = await visitor.get(path)
        assert len(html) < 150_000, path
        found = structure(html)
        assert found.images == [], path
        links |= {link.split("#")[0] for link in found.links if link.startswith(("/", "?"))}
    inner = sorted(link for link in links if link.startswith("/") and not link.startswith("/api"))
    for link in [link for link in inner if link not in paths(visitor.world)][:60]:
        await visitor.get(link)


async def test_pages_are_for_those_who_signed_in(stranger: httpx2.AsyncClient) -> None:
    for path in ("/", "/servers/1", "/changes/1", "/tools/1", "/changelog", "/servers/new"):
        answer = await stranger.get(path)
        assert answer.status_code == 303
        assert answer.headers["location"].startswith("/login?next=")


async def test_the_overview_shows_what_needs_you_first(visitor: Any) -> None:
    html = await visitor.get("/")
    assert "<h1>4 need you</h1>" in html
    assert html.index("<code>status</code> may now be null") < html.index('<table class="table fleet">')
    assert "Not announced: restarted at" in html
    assert "callers must now send <code>region</code>" in html
    assert "unauthorized since" in html
    assert "waits for its first poll" in html


async def test_search_finds_servers_by_their_tools(visitor: Any) -> None:
    html = await visitor.get("/?q=search_ord")
    table = html[html.index("<tbody>") :]
    assert ">orders</a>" in table
    assert ">weather</a>" not in table
    assert "No server, tool, field of a schema or rule has this in its name" in await visitor.get(
        "/?q=nothing-has-this"
    )
    assert "No server, tool, field of a schema or rule has this in its name" in await visitor.get("/?q=%25")


async def test_an_empty_house_offers_the_next_step(stranger: httpx2.AsyncClient, services: Services) -> None:
    from driftwatch.web.auth import tokens

    async with services.db.transaction() as session:
        token = await tokens.issue_admin_token(session)
    await stranger.post("/login", data={"token": token})
    html = (await stranger.get("/")).text
    assert "Nothing is watched yet." in html
    assert 'action="/servers/preview"' in html
    assert "Nothing has changed since" in (await stranger.get("/changelog")).text


async def test_the_change_page_answers_the_five_questions(visitor: Any) -> None:
    html = await visitor.get(f"/changes/{visitor.world.changes['orders', 'get_order']}")
    for question in ("What changed", "Does it break us", "Was it announced", "Who was told", "What now"):
        assert question in html
    bad = re.search(r'<span class="l bad">.*?</span></span>', html)
    assert bad
    assert "&#34;status&#34;" in bad[0]
    assert "null is not of type &#34;string&#34;" in bad[0]
    assert "The server restarted at" in html
    assert "<strong>It alerts:</strong>" in html
    assert "#payments-alerts" in html
    assert "delivered" in html
    assert "Accept v2" in html


async def test_the_tool_page_compares_by_meaning_and_as_text(visitor: Any) -> None:
    path = f"/tools/{visitor.world.tools['orders', 'get_order']}"
    html = await visitor.get(path)
    assert "string or <ins>null</ins>" in html
    assert '<a class="rule-id" href="/rules/output-null-added">output-null-added</a>' in html
    assert "v1 (baseline)" in html
    raw = await visitor.get(f"{path}?view=raw")
    assert "&#34;trackingUrl&#34;" in raw
    back = await visitor.get(f"{path}?from=2&to=1")
    assert "carrier" in back
    assert "<ins>null</ins>" not in back


async def test_a_version_that_does_not_exist_is_a_page_of_its_own(visitor: Any) -> None:
    assert "no version" in await visitor.get(f"/tools/{visitor.world.tools['orders', 'get_order']}?from=99", 404)
    for path in ("/servers/9999", "/tools/9999", "/changes/9999", "/changesets/9999", "/alerts/9999", "/nowhere"):
        html = await visitor.get(path, 404)
        assert "<h1>Not found</h1>" in html
    assert "Cannot be accepted" in await visitor.get("/changelog?before=x", 422)


async def test_hostile_names_and_texts_stay_text(visitor: Any) -> None:
    world = visitor.world
    pages = [f"/servers/{world.servers['tickets']}", "/", "/changelog", f"/changesets/{world.changesets['tickets']}"]
    pages += [f"/tools/{world.tools['tickets', name]}" for name in (MARKUP_NAME, BIDI_NAME)]
    pages += [f"/changes/{world.changes['tickets', name]}" for name in (MARKUP_NAME, BIDI_NAME)]
    for path in pages:
        html = await visitor.get(path)
        assert "<script>alert" not in html
        assert "<img" not in html
        assert not re.search("[\u202e\u200b\u2063]", html), path
    server = await visitor.get(pages[0])
    assert '<span class="hidden-char">U+202E</span>' in server
    assert "{{ 7*7 }}" in server
    assert LONG_NAME in await visitor.get(f"/servers/{world.servers['orders']}")


async def test_one_deploy_is_one_page_grouped_by_cause(visitor: Any) -> None:
    html = await visitor.get(f"/changesets/{visitor.world.changesets['files']}")
    assert "<h1>13 tools changed, 13 invalid</h1>" in html
    assert "one cause; the same thing is told once" in html
    assert html.count('type="checkbox"') == 13


async def test_the_permalink_of_a_message_leads_to_the_change(visitor: Any) -> None:
    world = visitor.world
    answer = await visitor.client.get(f"/alerts/{world.alerts['orders']}")
    assert answer.status_code == 303
    assert answer.headers["location"] in {f"/changes/{key}" for key in range(1, 100)}
    answer = await visitor.client.get(f"/alerts/{world.alerts['files']}")
    assert answer.headers["location"] == f"/changesets/{world.changesets['files']}"


async def _audit(world: World) -> list[tuple[str, str]]:
    async with world.services.db.transaction() as session:
        return [tuple(row) for row in await run_sql(session, text("SELECT actor, action FROM audit_log ORDER BY id"))]


async def test_acknowledge_then_accept_closes_the_alert(visitor: Any) -> None:
    world = visitor.world
    alert, change = world.alerts["orders"], world.changes["orders", "get_order"]
    html = await visitor.post(f"/alerts/{alert}/acknowledge", {"reason": "on it"})
    assert "Acknowledged. The alert stays open" in html
    assert "<h1>3 need you</h1>" in await visitor.get("/")
    html = await visitor.post(f"/alerts/{alert}/accept", {"reason": "carriers may be pending"})
    assert "Accepted. This is the baseline now." in html
    html = await visitor.get(f"/changes/{change}")
    assert "Nothing: the alert is accepted, by admin." in html
    tool = await visitor.get(f"/tools/{world.tools['orders', 'get_order']}")
    assert "v2, accepted by admin" in tool
    assert "carriers may be pending" in tool
    assert [action for _, action in await _audit(world) if action.startswith("alert.")] == [
        "alert.acknowledge",
        "alert.accept",
    ]
    assert "409" in await visitor.post(f"/alerts/{alert}/accept", {}, status=409)


async def test_a_pinned_server_demands_a_reason_and_tools_can_be_chosen(visitor: Any) -> None:
    world = visitor.world
    alert = world.alerts["files"]
    assert "A reason is needed" in await visitor.post(
        f"/alerts/{alert}/accept", {"chosen": "1", "tool": ["1"]}, status=422
    )
    assert "No tool is ticked" in await visitor.post(
        f"/alerts/{alert}/accept", {"chosen": "1", "reason": "x"}, status=422
    )
    one = {"chosen": "1", "reason": "known", "tool": [str(world.tools["files", "read_text"])]}
    await visitor.post(f"/alerts/{alert}/accept", one)
    assert "accepted by admin" in await visitor.get(f"/tools/{world.tools['files', 'read_text']}")
    assert "<h1>4 need you</h1>" in await visitor.get("/")


@pytest.mark.parametrize("csrf", [None, "", "guessed"])
async def test_a_form_without_its_token_changes_nothing(visitor: Any, csrf: str | None) -> None:
    alert = visitor.world.alerts["orders"]
    data = {} if csrf is None else {"csrf": csrf}
    answer = await visitor.client.post(f"/alerts/{alert}/accept", data=data)
    assert answer.status_code == 403
    assert "<h1>Not allowed</h1>" in answer.text
    assert "<h1>4 need you</h1>" in await visitor.get("/")


async def test_a_form_from_another_site_changes_nothing(visitor: Any) -> None:
    server = visitor.world.servers["orders"]
    for path in ("pause", "check", "delete", "edit", "resume"):
        answer = await visitor.client.post(
            f"/servers/{server}/{path}",
            data={"csrf": await visitor.csrf(), "name": "x", "interval": "60", "confirm": "orders"},
            headers={"origin": "https://evil.example"},
        )
        assert answer.status_code == 403
    assert "Resume" not in await visitor.get(f"/servers/{server}")


async def test_pause_resume_edit_check_and_delete(visitor: Any) -> None:
    server = visitor.world.servers["weather"]
    assert "Paused." in await visitor.post(f"/servers/{server}/pause", {})
    assert "not polled until you resume" in await visitor.get(f"/servers/{server}")
    assert "Resumed." in await visitor.post(f"/servers/{server}/resume", {})
    assert "being looked at now" in await visitor.post(f"/servers/{server}/check", {})
    edit = {"name": "sky", "interval": "60", "owner": "met", "tags": "prod, eu", "mode": "pinned", "transitive": "true"}
    html = await visitor.post(f"/servers/{server}/edit", edit)
    assert '<option value="true" selected>every version since the baseline</option>' in html
    assert "Saved." in html
    assert "owner <b>met</b>" in html
    assert "tags prod, eu" in html
    assert "interval_seconds" in await visitor.post(f"/servers/{server}/edit", {**edit, "interval": "0"}, status=422)
    assert "does not match" in await visitor.post(f"/servers/{server}/delete", {"confirm": "weather"}, status=422)
    assert "no longer watched" in await visitor.post(f"/servers/{server}/delete", {"confirm": "sky"})
    await visitor.get(f"/servers/{server}", 404)


async def test_a_tool_chooses_what_it_is_compared_with(visitor: Any) -> None:
    path = f"/tools/{visitor.world.tools['orders', 'get_order']}"
    assert "as the server is set" in await visitor.get(path)
    for value, words in (("1", "every version since"), ("0", "the version before")):
        html = await visitor.post(f"{path}/edit", {"transitive": value})
        assert "Saved." in html
        assert f'<option value="{value}" selected>{words}' in html
    assert " selected>the version before" not in await visitor.post(f"{path}/edit", {"transitive": ""})
    await visitor.post(f"{path}/edit", {"transitive": "2"}, status=422)
    await visitor.post("/tools/999999/edit", {"transitive": "1"}, status=404)


async def test_registration_looks_first_and_stores_nothing_before_the_second_step(visitor: Any, shop: Shop) -> None:
    html = await visitor.post("/servers/preview", {"url": shop.url, "header": "X-Key", "secret": "s3cr3t-value"})
    assert "Nothing is saved yet" in html
    assert "get_order" in html
    assert "s3cr3t-value" not in html
    sealed = re.search(r'name="sealed" value="([^"]+)"', html)
    assert sealed
    before = await visitor.get("/")
    data = {"url": shop.url, "sealed": sealed[1], "name": "shop", "tags": "demo", "interval": "60", "mode": "follow"}
    page = await visitor.post("/servers", data)
    assert "It is watched now." in page
    assert "1 secret header: X-Key. Stored sealed, never shown." in page
    assert "s3cr3t-value" not in page
    assert "get_order" in page
    assert before.count("<tr>") + 1 == (await visitor.get("/")).count("<tr>")


async def test_what_cannot_be_read_says_why_and_can_be_watched_anyway(visitor: Any, nobody: str) -> None:
    html = await visitor.post("/servers/preview", {"url": nobody}, status=422)
    assert "Watch it anyway" in html
    assert "Connection refused:" in html
    assert "force=true" not in html
    page = await visitor.post("/servers", {"url": nobody, "force": "true", "name": "later"})
    assert '<h1 class="mono">later</h1>' in page
    html = await visitor.post("/servers/preview", {"url": "http://169.254.169.254/"}, status=422)
    assert "DRIFTWATCH_ALLOW_NETWORKS" in html


async def test_a_tampered_credential_is_refused(visitor: Any, nobody: str) -> None:
    data = {"url": nobody, "sealed": "gAAAAA-forged", "force": "true"}
    assert "changed on its way" in await visitor.post("/servers", data, status=422)


async def test_import_tells_what_became_of_each(visitor: Any, shop: Shop, nobody: str) -> None:
    servers = {"shop": {"url": shop.url}, "local": {"command": "npx"}, "off": {"url": nobody}}
    html = await visitor.post("/servers/import", {"text": json.dumps({"mcpServers": servers})})
    assert "watched, 6 tools" in html
    assert "runs as a local program" in html
    assert html.count("not watched") == 2
    assert "names no server" in await visitor.post("/servers/import", {"text": "#nothing"}, status=422)


async def test_text_that_no_database_stores_and_ids_that_no_row_has(visitor: Any) -> None:
    world = visitor.world
    html = await visitor.post(f"/alerts/{world.alerts['orders']}/acknowledge", {"reason": "a\x00b\u202ec"})
    assert "Acknowledged." in html
    server = world.servers["weather"]
    edit = {"name": "a\x00b", "interval": "60", "owner": "\ufeff", "tags": "\x00"}
    await visitor.post(f"/servers/{server}/edit", edit, status=422)
    for path in ("/servers/{}", "/tools/{}", "/changes/{}", "/changesets/{}", "/alerts/{}", "/changelog?before={}"):
        await visitor.get(path.format(10**30), 422)
        await visitor.get(path.format(2**63 - 1), 200 if "before" in path else 404)
    assert "No server, tool, field of a schema or rule has this in its name" in await visitor.get("/?q=%00%ff&tag=%00")


async def test_many_visitors_at_once(visitor: Any) -> None:
    pages = await asyncio.gather(*(visitor.get("/") for _ in range(8)))
    assert all("4 need you" in page for page in pages)


async def test_search_finds_fields_and_rules_and_keeps_hostile_words_text(visitor: Any) -> None:
    html = await visitor.get("/?q=Carrier")
    fields = html[html.index('id="h-fields"') :]
    assert "orders / get_order" in fields
    assert "<code>carrier</code> in the output" in fields
    assert ">orders</a>" in html[html.index("<tbody>") : html.index('id="h-fields"')]
    rules = await visitor.get("/?q=null-added")
    assert 'href="/rules/output-null-added"' in rules
    assert "<script>" not in await visitor.get("/?q=%3Cscript%3E&tag=%3Cscript%3E&owner=%3Cscript%3E")
    assert "output-null-added" in await visitor.get("/rules")


async def test_a_finding_leads_to_its_rule(visitor: Any) -> None:
    change = visitor.world.changes["orders", "get_order"]
    page = await visitor.get(f"/changes/{change}")
    assert 'Rule <a class="rule-id" href="/rules/output-null-added">output-null-added</a> at <code>/' in page
    rule = await visitor.get("/rules/output-null-added")
    assert '<details class="more rule" id="output-null-added" open>' in rule
    assert "rule" in await visitor.get("/rules/no-such-rule", 404)


async def test_filters_stand_in_the_url_and_can_be_combined(visitor: Any) -> None:
    def listed(html: str) -> list[str]:
        return re.findall(r'<th scope="row" class="name"><a href="/servers/\d+">([^<]+)<', html)

    assert set(listed(await visitor.get("/?owner=payments"))) == {"orders", "billing"}
    assert listed(await visitor.get("/?owner=payments&state=needs")) == ["orders"]
    assert set(listed(await visitor.get("/?tag=prod"))) == {"orders", "crm"}
    assert "tickets" not in listed(await visitor.get("/?era=modern"))
    html = await visitor.get("/?tag=prod&era=legacy")
    assert listed(html) == ["orders"]
    assert 'href="/?era=legacy"' in html  # takes the tag back and keeps the era


async def test_the_changelog_filters_and_leaves_as_markdown_and_json(visitor: Any) -> None:
    world = visitor.world
    page = await visitor.get("/changelog?rule=output-null-added")
    assert "<code>status</code> may now be null" in page
    assert "callers must now send" not in page
    assert "callers must now send" in await visitor.get("/changelog?tag=prod&verdict=breaking&announcement=announced")
    assert "No such change." in await visitor.get("/changelog?tag=prod&verdict=invalid")
    text = await visitor.get(f"/changelog.md?server={world.servers['orders']}")
    assert text.startswith("# Changelog of orders\n")
    assert re.search(r"\[breaking\]\(http://\S+/changes/\d+\): `status` may now be null", text)
    hostile = await visitor.get(f"/changelog.md?server={world.servers['tickets']}")
    assert "<img" not in hostile.replace(f"`{MARKUP_NAME}`", "")
    first = json.loads(await visitor.get("/changelog.json?limit=1"))
    assert len({item["changeset"] for item in first["items"]}) == 1
    second = json.loads(await visitor.get(first["next"]))
    assert first["items"][0]["changeset"] > second["items"][0]["changeset"]


async def test_the_list_as_it_was_and_what_is_uncertain_inside_a_window(visitor: Any) -> None:
    world = visitor.world
    path = f"/servers/{world.servers['orders']}/as-of"

    def at(seconds: float) -> str:
        return f"{path}?at={(world.now - timedelta(seconds=seconds)).strftime('%Y-%m-%dT%H:%M:%S')}"

    inside = await visitor.get(at(300))
    row = inside[inside.index(">get_order</a>") :]
    assert "uncertain" in row[:600]
    assert "or v2 already" in row[:600]
    before = await visitor.get(at(3600))
    assert "uncertain" not in before
    assert "v1" in before[before.index(">get_order</a>") :][:300]
    assert "did not watch orders yet" in await visitor.get(at(400 * 86400))
    await visitor.get(f"{path}?at=yesterday", 422)


async def test_guides_stand_inside_the_service(visitor: Any) -> None:
    index = await visitor.get("/announce")
    assert 'href="/announce/fastmcp"' in index
    for reason in ("not-declared", "cannot-deliver", "not-delivered", "restart"):
        assert f'id="{reason}"' in index
    assert "ListenHandler(bus)" in await visitor.get("/announce/fastmcp")
    assert "There is no such guide" in await visitor.get("/announce/nothing", 404)


async def test_silence_leads_to_how_to_announce(visitor: Any) -> None:
    async with visitor.world.services.db.transaction() as session:
        query = select(Change).where(Change.announcement == "silent").limit(1)
        silent = (await session.exec(query)).one()
    link = f'href="/announce#{silent.announcement_reason}"'
    assert link in await visitor.get(f"/changes/{silent.id}")
    assert link in await visitor.get(f"/changesets/{silent.changeset_id}")
    assert 'href="/announce#not-declared"' in await visitor.get(f"/servers/{silent.server_id}")


async def test_a_pushed_server_is_shown_as_one(visitor: Any) -> None:
    spec = ServerSpec("", "by-agent", interval_seconds=60, pushed=True)
    services = visitor.world.services
    async with services.db.transaction() as session:
        found = await find_or_register(session, services.settings, spec, actor="test")
    page = await visitor.get(f"/servers/{found.server_id}")
    assert "pushed by an agent" in page
    assert "expected every 1 min" in page
    assert "Check now" not in page
    form = {"name": "by-agent", "interval": "120", "owner": "mei", "mode": "pinned"}
    assert "expected every 2 min" in await visitor.post(f"/servers/{found.server_id}/edit", form)
    assert "by-agent" in await visitor.get("/")


async def test_the_server_page_tells_what_it_says_of_itself_and_what_is_worth_fixing(visitor: Any) -> None:
    world, key = visitor.world, visitor.world.servers["orders"]
    spoke = text(
        "INSERT INTO snapshot (profile_id, fingerprint, first_seen_at, protocol_version, instructions, tool_count,"
        " findings) SELECT id, '\\x00', now() - :age * interval '1 minute', '2026-07-28', :says, 1, :findings"
        " FROM profile WHERE server_id = :server AND era = 'modern'"
    )
    findings = json.dumps([{"rule": "cache-hints", "pointer": "", "message": "no ttlMs: clients lose the list"}])
    async with world.services.db.transaction() as session:
        for age, says in ((2, "Be kind."), (1, "Send <b>everything</b>\u200b first. ❤️")):
            await run_sql(session, spoke, {"age": age, "says": says, "findings": findings, "server": key})
        await run_sql(
            session,
            text(
                "INSERT INTO candidate (profile_id, tool, prior_sent_at, first_arrived_at, last_seen_at, returns)"
                " SELECT id, 'get_time', now(), now(), now(), 5 FROM profile WHERE server_id = :server"
            ),
            {"server": key},
        )
    html = await visitor.get(f"/servers/{key}")
    structure(html)
    said = html[html.index('id="h-said"') : html.index('id="h-find"')]
    assert "Send &lt;b&gt;everything&lt;/b&gt;" in said
    assert '<span class="hidden-char">U+200B</span> first. ❤️' in said
    assert "Be kind." in said
    assert "<code>instructions</code>" in said
    found = html[html.index('id="h-find"') :]
    assert "no ttlMs: clients lose the list" in found
    assert "Send resultType, ttlMs" in found
    assert "two definitions alternate" in found
    overview = await visitor.get("/?state=blind")
    assert "get_time" not in overview, "who needs you comes before who is unsettled"
