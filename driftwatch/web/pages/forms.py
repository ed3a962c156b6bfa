"""What comes with a request to a page: ids, and the text of forms."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Form, Path, Query
from fastapi.responses import RedirectResponse
from pydantic import AfterValidator

from driftwatch.safe_text import safe_text

SEE_OTHER: Final = 303
LARGEST_ID: Final = 2**63 - 1

Id = Annotated[int, Path(le=LARGEST_ID)]
Key = Annotated[int | None, Query(ge=0, le=LARGEST_ID)]
#: no form stores a character that the database refuses or that nobody can see
Text = Annotated[str, Form(), AfterValidator(safe_text)]


def tags(text: str) -> tuple[str, ...]:
    """The tags of a comma-separated list."""
    return tuple(tag.strip() for tag in text.split(",") if tag.strip())


def headers(name: str, secret: str) -> dict[str, str]:
    """The header that carries a credential, ``Authorization`` unless another is named; none without a secret."""
    return {name.strip() or "Authorization": secret.strip()} if secret.strip() else {}


def see_other(path: str) -> RedirectResponse:
    """Lead on after a form, so that a reload does not send it again."""
    return RedirectResponse(path, status_code=SEE_OTHER)
