"""Templates become answers. Everything is escaped; an undefined name in a template is an error, not a gap."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import jinja2
from fastapi import Request
from fastapi.responses import HTMLResponse

import driftwatch
from driftwatch.safe_text import safe_text

HERE: Final = Path(__file__).parent.parent
STATIC: Final = HERE / "static"

environment: Final = jinja2.Environment(
    loader=jinja2.FileSystemLoader(HERE / "templates"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
environment.filters["safe_text"] = safe_text
environment.globals["version"] = driftwatch.__version__


def render(request: Request, template: str, *, status: int = 200, **context: Any) -> HTMLResponse:
    """An HTML answer. Templates know ``request``, ``visitor`` (None before signing in) and what the handler gives."""
    context.setdefault("visitor", None)
    html = environment.get_template(template).render(request=request, **context)
    return HTMLResponse(html, status_code=status)


def render_error(request: Request, *, status: int, title: str, detail: str, hint: str | None) -> HTMLResponse:
    """An error page in the same look as every other page."""
    return render(request, "error.html", status=status, title=title, detail=detail, hint=hint)
