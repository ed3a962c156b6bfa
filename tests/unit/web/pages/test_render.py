from __future__ import annotations

import re
from typing import Any

import jinja2
import pytest
from markupsafe import Markup
from starlette.requests import Request

from driftwatch.web.pages import render

ATTACKS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</td></table><b>",
    "{{ 7*7 }}",
    "' onmouseover='alert(1)",
    "`<i>`",
)


def request(query: str = "", cookie: str = "") -> Request:
    headers = [(b"cookie", cookie.encode())] if cookie else []
    scope = {"type": "http", "path": "/", "query_string": query.encode(), "headers": headers, "method": "GET"}
    return Request({**scope, "server": ("driftwatch.test", 80), "scheme": "http"})


def printed(template: str, **context: Any) -> str:
    return render.environment.from_string(template).render(**context)


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("template", ["{{ x }}", "{{ x | chips }}", "{{ x | ticks }}", '<a title="{{ x }}">'])
def test_no_text_becomes_markup(template: str, attack: str) -> None:
    html = printed(template, x=attack)
    own = html.replace("<code>", "").replace("</code>", "").replace('<a title="', "", 1).removesuffix('">')
    assert "<" not in own
    assert '"' not in own
    assert "49" not in own


@pytest.mark.parametrize("hidden", ["\u202e", "\u200b", "\x00", "\x1b", "\ufeff", "\ud800", "\U000e0041", "\u2066"])
def test_hidden_characters_are_seen_wherever_text_is_printed(hidden: str) -> None:
    assert printed("{{ x }}", x=f"a{hidden}b") == f"a\\u{{{ord(hidden):X}}}b"
    chip = f'<span class="hidden-char">U+{ord(hidden):04X}</span>'
    assert printed("{{ x | chips }}", x=f"a{hidden}b") == f"a{chip}b"
    assert printed("{{ x | ticks }}", x=f"`a{hidden}`") == f"<code>a{chip}</code>"


def test_safe_text_is_done_even_where_a_template_forgets_it() -> None:
    assert printed("<p title='{{ x }}'>", x="\u202e") == "<p title='\\u{202E}'>"


def test_markup_of_ours_is_left_alone() -> None:
    assert printed("{{ x }}", x=Markup("<b>\u200b</b>")) == "<b>\u200b</b>"


def test_long_text_is_cut_and_counted() -> None:
    assert printed("{{ x | chips(3) }}", x="abcdef") == "abc … (3 more characters)"


def test_an_undefined_name_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError):
        printed("{{ nothing }}")


def test_ticks_become_code_and_odd_ones_stay() -> None:
    assert render.ticks("`a` and `b") == Markup("<code>a</code> and `b")


def test_every_template_compiles() -> None:
    names = [name for name in render.environment.list_templates() if name.endswith(".html")]
    assert {"base.html", "change.html", "error.html", "login.html", "login_link.html"} <= set(names)
    for name in names:
        render.environment.get_template(name)


def test_templates_hold_nothing_the_policy_forbids() -> None:
    assert render.environment.loader is not None
    for name in render.environment.list_templates():
        source = render.environment.loader.get_source(render.environment, name)[0]
        assert "style=" not in source, name
        assert not re.search(r"\son[a-z]+=", source), name
        assert "javascript:" not in source, name
        assert "<style" not in source, name
        assert "|safe" not in source.replace(" ", ""), name
        assert "http://" not in source, name


def test_the_error_page_says_what_to_do() -> None:
    answer = render.render_error(request(), status=404, title="Not found", detail="no <b>", hint="look there")
    html = bytes(answer.body).decode()
    assert answer.status_code == 404
    assert "No &lt;b&gt;" in html
    assert "Look there" in html
    named = render.render_error(request(), status=422, title="No", detail="interval_seconds: too short", hint=None)
    assert "interval_seconds: too short" in bytes(named.body).decode()


@pytest.mark.parametrize(
    ("cookie", "chosen"), [("", "system"), ("driftwatch_theme=dark", "dark"), ("driftwatch_theme=x", "system")]
)
def test_the_theme_is_remembered(cookie: str, chosen: str) -> None:
    html = bytes(render.render(request(cookie=cookie), "login.html", next="/", error=None).body).decode()
    assert html.count(" checked") == 1
    assert f'id="theme-{chosen}" checked' in html


def test_the_query_names_a_message_and_carries_none() -> None:
    html = bytes(render.render(request("done=paused"), "login.html", next="/", error=None).body).decode()
    assert "Paused. Nothing is polled" in html
    html = bytes(render.render(request("done=You+are+hacked"), "login.html", next="/", error=None).body).decode()
    assert "hacked" not in html
