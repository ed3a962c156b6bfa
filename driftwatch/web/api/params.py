"""What comes with a request to the API, with the limits that its description states. Nothing else is accepted."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query

from driftwatch.web.api import cursor
from driftwatch.web.api.models.base import LARGEST_ID, NO_NUL, Moment

RowId = Annotated[int, Path(ge=1, le=LARGEST_ID)]
Number = Annotated[int, Path(ge=1, le=2**31 - 1, description="A version's number.")]

ServerId = Annotated[int | None, Query(alias="server", ge=1, le=LARGEST_ID, description="A server's id.")]
ToolId = Annotated[int | None, Query(ge=1, le=LARGEST_ID, description="A tool's id: one name in one profile.")]
Cursor = Annotated[
    str | None,
    Query(pattern=cursor.PATTERN, description="`next` of the page before."),
]
PlaceCursor = Annotated[str | None, Query(pattern=cursor.PLACE, description="`next` of the page before.")]
Limit = Annotated[int, Query(ge=1, le=200, description="Most items of the page.")]
Tag = Annotated[str | None, Query(max_length=64, pattern=NO_NUL, description="One of the server's tags.")]
Owner = Annotated[str | None, Query(max_length=200, pattern=NO_NUL, description="The server's owner.")]
Words = Annotated[str | None, Query(max_length=200, pattern=NO_NUL, description="Text to look for.")]
Since = Annotated[Moment | None, Query(description="Not before; with a time zone.")]
