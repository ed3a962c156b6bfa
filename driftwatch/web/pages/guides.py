"""How to announce a change, per SDK: the documents of docs/announce as pages of the running service."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from driftwatch.announcement.guide import GUIDE
from driftwatch.errors import NotFoundError
from driftwatch.web.auth.dependencies import PageVisitor
from driftwatch.web.pages.render import render

if TYPE_CHECKING:
    from driftwatch.app import Services

_INDEX: Final = "README"
_NAME: Final = re.compile(r"[a-z0-9-]{1,40}")


def router(services: Services) -> APIRouter:
    """The routes of the guides; they need no database, so ``services`` is not looked at."""
    pages = APIRouter()

    @pages.get(GUIDE)
    async def index(request: Request, visitor: PageVisitor) -> HTMLResponse:
        return _page(request, visitor, _INDEX)

    @pages.get(f"{GUIDE}/{{name}}")
    async def guide(request: Request, visitor: PageVisitor, name: str) -> HTMLResponse:
        return _page(request, visitor, name)

    return pages


def _page(request: Request, visitor: PageVisitor, name: str) -> HTMLResponse:
    title, html = document(name)
    crumbs = [("/", "overview"), *([] if name == _INDEX else [(GUIDE, "how to announce")]), ("", title)]
    return render(request, "guide.html", visitor=visitor, title=title, html=html, crumbs=crumbs)


@cache
def document(name: str) -> tuple[str, Markup]:
    """Title and body of a guide. Raises NotFoundError."""
    file = _folder() / f"{name}.md"
    if not (name == _INDEX or _NAME.fullmatch(name)) or not file.is_file():
        raise NotFoundError("There is no such guide.", hint=f"{GUIDE} lists them.")
    return rendered(file.read_text(encoding="utf-8"))


def rendered(text: str) -> tuple[str, Markup]:
    """A document's title and the rest of it as HTML; links between documents lead to their pages."""
    # The text is ours. HTML in it would be shown as text all the same.
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(text)
    title = tokens[1].content
    for position, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", _anchor(tokens[position + 1].content))
        elif token.type == "table_open":
            token.attrSet("class", "table compact")
        for child in token.children or ():
            _lead(child)
    return title, Markup(markdown.renderer.render(tokens[3:], markdown.options, {}))  # noqa: S704 - made from our text


def _lead(token: Token) -> None:
    href = str(token.attrGet("href") or "")
    if token.type == "link_open" and href.endswith(".md"):
        name = href.removesuffix(".md")
        token.attrSet("href", GUIDE if name == _INDEX else f"{GUIDE}/{name}")


def _anchor(heading: str) -> str:
    """As the places where repositories are read make it."""
    return re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")


def _folder() -> Path:
    """Inside an installed wheel, or in the repository."""
    installed = Path(__file__).parents[1] / "announce"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "docs" / "announce"
