"""Answers in Markdown, and how the description of the API tells of them."""

from __future__ import annotations

from typing import Any, Final

from fastapi.responses import Response

#: arguments of a route that answers with :func:`answer`
DESCRIBED: Final[dict[str, Any]] = {
    "response_class": Response,
    "responses": {200: {"description": "Markdown.", "content": {"text/markdown": {"schema": {"type": "string"}}}}},
}


def answer(text: str) -> Response:
    """An answer in Markdown; the text is safe already."""
    return Response(text, media_type="text/markdown; charset=utf-8")
