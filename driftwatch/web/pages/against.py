"""One tool as two kinds of clients see it now, side by side. Not a change: profiles are never each other's past."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from driftwatch.errors import NotFoundError
from driftwatch.history import tool_read
from driftwatch.history.definitions import load_definitions
from driftwatch.web.auth.dependencies import PageVisitor, equivalences_of
from driftwatch.web.pages import comparing, kinds, lineage, store
from driftwatch.web.pages.definitions import Definition
from driftwatch.web.pages.forms import Id
from driftwatch.web.pages.render import render
from driftwatch.web.pages.words import State
from driftwatch.wire.facts import Era

if TYPE_CHECKING:
    from driftwatch.app import Services

_ALIKE: Final = State("compatible", "compatible", "same", quiet=True)
_DIFFERS: Final = State("note", "note", "differs")


def router(services: Services) -> APIRouter:
    """The route of the comparison over kinds of clients."""
    pages = APIRouter()

    @pages.get("/tools/{tool_id:int}/against/{other_id:int}")
    async def against(request: Request, visitor: PageVisitor, tool_id: Id, other_id: Id) -> HTMLResponse:
        async with services.db.transaction() as session:
            head, other = await store.tool_head(session, tool_id), await store.tool_head(session, other_id)
            if (head.server_id, head.name) != (other.server_id, other.name):
                raise NotFoundError("these are two different tools", hint="compare one tool over its kinds of clients")
            shown = [lineage.current(await tool_read.tool_versions(session, key)) for key in (tool_id, other_id)]
            found = await load_definitions(session, [version.id for version in shown])
        definitions = [found[version.id] for version in shown]
        modern, legacy = definitions if head.era == Era.MODERN else definitions[::-1]
        alike = (await equivalences_of(request).of({head.name: (modern, legacy)})).get(head.name)
        sides = [Definition.of(definition.verbatim) for definition in definitions]
        parts = comparing.plainly(sides[0], sides[1])
        return render(
            request,
            "against.html",
            visitor=visitor,
            head=head,
            other=other,
            versions=[version.number for version in shown],
            parts=parts,
            likeness=kinds.state_of(alike),
            said=kinds.said_of(alike),
            alike=_ALIKE,
            differing=_DIFFERS,
        )

    return pages
