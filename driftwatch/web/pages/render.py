r"""Templates become answers. Everything is escaped; an undefined name in a template is an error, not a gap.

Server text is made safe before it is escaped, whoever wrote the template: every string that is printed goes through
``safe_text``. Where it may be long or is shown as text of the server, the filters draw hidden characters as chips.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import jinja2
from fastapi import Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup, escape

import driftwatch
from driftwatch.classify.findings import RULES
from driftwatch.safe_text import safe_text, split_hidden
from driftwatch.web.pages import times, words

HERE: Final = Path(__file__).parent.parent
STATIC: Final = HERE / "static"
THEMES: Final = ("system", "light", "dark")
THEME_COOKIE: Final = "driftwatch_theme"
MAX_SHOWN_TEXT: Final = 4_000

#: what a page says after a form was sent; the query names the sentence, it does not carry it
FLASHES: Final = {
    "registered": "It is watched now. What the first poll saw is the baseline.",
    "imported": "Imported.",
    "checking": "It is being looked at now; reload in a few seconds.",
    "paused": "Paused. Nothing is polled and nobody is told until you resume.",
    "resumed": "Resumed. The next poll runs at once.",
    "deleted": "The server is no longer watched. Its history stays until it is purged.",
    "saved": "Saved.",
    "tested": "A test message is on its way; reload for what the channel answered.",
    "again": "It is sent again.",
    "muted": "Muted. A new change ends it early.",
    "ignored": "Ignored from now on. History keeps everything.",
    "acknowledged": "Acknowledged. The alert stays open until it is closed; no reminder comes any more.",
    "accepted": "Accepted. This is the baseline now.",
}

_CODE: Final = re.compile(r"`([^`]{1,200})`")


def chips(text: str | None, size: int = MAX_SHOWN_TEXT) -> Markup:
    """Text of a server as HTML: hidden characters become chips, what is over ``size`` characters is counted."""
    if text is None:
        return Markup("")
    shown = text[:size]
    pieces = enumerate(split_hidden(shown))
    html = Markup("").join(_chip(piece) if place % 2 else escape(piece) for place, piece in pieces)
    return html if len(text) <= size else html + f" … ({len(text) - size} more characters)"


def ticks(text: str) -> Markup:
    """A sentence in which `names` stand in backticks: they become ``<code>``, everything is escaped and made safe."""
    out: list[Markup] = []
    for position, piece in enumerate(_CODE.split(text[:MAX_SHOWN_TEXT])):
        out.append(Markup("<code>{}</code>").format(chips(piece)) if position % 2 else chips(piece))
    return Markup("").join(out)


def _chip(char: str) -> Markup:
    return Markup('<span class="hidden-char">U+{:04X}</span>').format(ord(char))


def _printed(item: Any) -> Any:
    """What the environment does to every printed expression before it escapes it."""
    return safe_text(item) if isinstance(item, str) and not isinstance(item, Markup) else item


environment: Final = jinja2.Environment(
    loader=jinja2.FileSystemLoader(HERE / "templates"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    finalize=_printed,
)
_FILTERS: Final[dict[str, Callable[..., Any]]] = {
    "safe_text": safe_text,
    "chips": chips,
    "ticks": ticks,
    "iso": times.iso,
    "stamp": times.stamp,
    "ago": times.ago,
    "age": times.age,
    "ahead": times.ahead,
    "clock": times.clock,
    "day": times.day,
    "when": times.when,
    "failure": words.failure,
    "clients": words.clients,
    "count": words.count,
}
environment.filters.update(_FILTERS)
environment.globals.update(version=driftwatch.__version__, words=words, times=times, known_rules=frozenset(RULES))


def render(request: Request, template: str, *, status: int = 200, **context: Any) -> HTMLResponse:
    """An HTML answer. Templates know ``request``, ``visitor`` (None before signing in) and what the handler gives.

    ``live``: ``all`` or the id of the server the page is about; the page then keeps itself up to date.
    """
    context.setdefault("visitor", None)
    context.setdefault("live", None)
    chosen = request.cookies.get(THEME_COOKIE)
    html = environment.get_template(template).render(
        request=request,
        theme=chosen if chosen in THEMES else THEMES[0],
        flash=FLASHES.get(request.query_params.get("done", "")),
        status=status,
        **context,
    )
    return HTMLResponse(html, status_code=status)


def render_error(request: Request, *, status: int, title: str, detail: str, hint: str | None) -> HTMLResponse:
    """An error page in the same look as every other page."""
    told = hint and _capital(hint)
    return render(request, "error.html", status=status, title=title, detail=_capital(detail), hint=told)


def _capital(text: str) -> str:
    """A plain first word gets its capital; a name such as ``interval_seconds`` keeps its spelling."""
    return text[:1].upper() + text[1:] if re.match("[a-z]+ ", text) else text
