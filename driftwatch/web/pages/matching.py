"""What a route or a channel's filter asks for, as the fields of a form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, get_args

from fastapi import Depends, Request

from driftwatch.alerts.events import EVENTS
from driftwatch.alerts.policy import SEVERITIES
from driftwatch.alerts.routes import Match, match_of
from driftwatch.safe_text import safe_text
from driftwatch.web.api.models.base import Announcement, Verdict
from driftwatch.web.pages.forms import tags

#: fields that take any text, with an example
_WRITTEN: Final[Mapping[str, str]] = {
    "tags": "Tags: prod, pci",
    "owners": "Owners: payments",
    "servers": "Servers: orders-*",
    "tools": "Tools: get_*",
}
#: fields with a fixed vocabulary, and what each is called
_TICKED: Final[Mapping[str, tuple[str, Sequence[str]]]] = {
    "severities": ("severity", SEVERITIES),
    "verdicts": ("verdict", get_args(Verdict)),
    "announcements": ("announcement", [word for word in get_args(Announcement) if word != "pending"]),
    "reasons": ("reason for silence", ("not-delivered", "cannot-deliver", "not-declared", "restart")),
    "directions": ("part", ("output", "input", "annotations", "text", "meta", "presence")),
    "via": ("proved by", ("declared", "undeclared-key", "unsafe-number")),
    "changes": ("what happened", ("changed", "added", "removed", "restored")),
    "kinds": ("kind of message", ("drift", "not-watching", "summary")),
    "events": ("event", tuple(EVENTS)),
}


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the form. ``choices``: value and whether it is ticked; without any it is written, as ``text``."""

    name: str
    label: str
    text: str = ""
    choices: tuple[tuple[str, bool], ...] = ()


def fields(match: Match | None = None) -> list[Field]:
    """The fields as they stand for a match; what it asks for beyond our vocabulary is offered too."""
    wanted = match or Match()
    written = [Field(name, hint, ", ".join(getattr(wanted, name))) for name, hint in _WRITTEN.items()]
    ticked = []
    for name, (label, known) in _TICKED.items():
        given = getattr(wanted, name)
        offered = dict.fromkeys([*known, *given])
        ticked.append(Field(name, label, choices=tuple((value, value in given) for value in offered)))
    return [*written, *ticked]


async def asked(request: Request) -> Match:
    """The match that a form asked for. Raises InputError."""
    form = await request.form()

    def given(name: str) -> list[str]:
        texts = [safe_text(value) for value in form.getlist(name) if isinstance(value, str)]
        return [piece for text in texts for piece in tags(text)] if name in _WRITTEN else texts

    return match_of({name: given(name) for name in Match.__struct_fields__})


#: for the handlers of forms
Asked = Annotated[Match, Depends(asked)]


def conditions(match: Match) -> list[tuple[str, str]]:
    """What a match asks for, as chips: field and wanted values."""
    found = [(name, getattr(match, name)) for name in Match.__struct_fields__]
    return [(name, ", ".join(values)) for name, values in found if values]
