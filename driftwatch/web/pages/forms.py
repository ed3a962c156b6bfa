"""What comes with a request to a page: ids, the text of forms, and who sent them."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Form, Path, Query, Request
from fastapi.responses import RedirectResponse
from pydantic import AfterValidator

from driftwatch.alerts.actions import By
from driftwatch.safe_text import safe_text
from driftwatch.web.auth.dependencies import Visitor

SEE_OTHER: Final = 303
LARGEST_ID: Final = 2**63 - 1

Id = Annotated[int, Path(le=LARGEST_ID)]
Key = Annotated[int | None, Query(ge=0, le=LARGEST_ID)]
#: no form stores a character that the database refuses or that nobody can see
Text = Annotated[str, Form(), AfterValidator(safe_text)]


def tags(text: str) -> tuple[str, ...]:
    """The tags of a comma-separated list."""
    return tuple(tag.strip() for tag in text.split(",") if tag.strip())


def by(request: Request, visitor: Visitor) -> By:
    """The person behind a form, for the services that write the audit log."""
    return By(visitor.caller.actor, request.state.request_id)


def see_other(path: str) -> RedirectResponse:
    """Lead on after a form, so that a reload does not send it again."""
    return RedirectResponse(path, status_code=SEE_OTHER)
