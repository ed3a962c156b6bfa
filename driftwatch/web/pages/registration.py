"""Registering a server in two steps on one path: look first, then watch it. Nothing is stored before the second."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, Literal, cast

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, Response

from driftwatch.errors import DriftwatchError, InputError
from driftwatch.servers import imports, register
from driftwatch.servers.errors import UnwatchableError
from driftwatch.servers.model import ServerSpec
from driftwatch.web.auth.dependencies import FormVisitor, PageVisitor
from driftwatch.web.pages import forms, found, times, words
from driftwatch.web.pages.forms import Text, see_other
from driftwatch.web.pages.render import render

if TYPE_CHECKING:
    from driftwatch.app import Services

INTERVALS: Final = ((60, "1 minute"), (300, "5 minutes"), (900, "15 minutes"), (3600, "1 hour"), (86400, "1 day"))
MAX_IMPORT: Final = 50


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one entry of an import."""

    label: str
    server_id: int | None
    words: str


def router(services: Services) -> APIRouter:
    """Routes of registration and import."""
    pages = APIRouter()

    @pages.get("/servers/new")
    async def first_step(request: Request, visitor: PageVisitor, url: str = "") -> HTMLResponse:
        return render(
            request, "register.html", visitor=visitor, url=url, header="", error=None, sealed="", anyway=False
        )

    @pages.post("/servers/preview")
    async def look(
        request: Request, visitor: FormVisitor, url: Text, header: Text = "", secret: Text = ""
    ) -> HTMLResponse:
        """What is there? Shown with the form of the second step; the credential travels sealed."""
        headers = forms.headers(header, secret)
        spec = ServerSpec(url=url.strip(), headers=headers)
        sealed = _seal(services, headers)
        try:
            seen = await register.register(services, spec, actor=visitor.caller.actor, dry_run=True)
        except InputError as error:
            return render(
                request,
                "register.html",
                status=error.status,
                visitor=visitor,
                url=url,
                header=header,
                error=error.cause if isinstance(error, UnwatchableError) else error,
                sealed=sealed,
                anyway=isinstance(error, UnwatchableError),
            )
        return render(
            request,
            "found.html",
            visitor=visitor,
            url=spec.url,
            sealed=sealed,
            header_names=list(headers),
            name=seen.name,
            seen=found.tell(seen.preview),
            intervals=_intervals(services.settings.interval_seconds),
            interval=services.settings.interval_seconds,
        )

    @pages.post("/servers")
    async def watch(
        visitor: FormVisitor,
        url: Text,
        sealed: Text = "",
        name: Text = "",
        owner: Text = "",
        tags: Text = "",
        interval: Annotated[int | None, Form()] = None,
        mode: Text = "follow",
        force: Annotated[bool, Form()] = False,
    ) -> Response:
        """The second step: store it, poll it, show it."""
        spec = ServerSpec(
            url=url.strip(),
            name=name.strip() or None,
            headers=_unseal(services, sealed),
            interval_seconds=interval,
            tags=forms.tags(tags),
            owner=owner.strip() or None,
            mode=cast("Literal['follow', 'pinned']", mode),
        )
        done = await register.register(services, spec, actor=visitor.caller.actor, force=force)
        return see_other(f"/servers/{done.server_id}?done=registered")

    @pages.get("/servers/import")
    async def paste(request: Request, visitor: PageVisitor) -> HTMLResponse:
        return render(request, "import.html", visitor=visitor, outcomes=None, text="")

    @pages.post("/servers/import")
    async def take_in(request: Request, visitor: FormVisitor, text: Text) -> HTMLResponse:
        """Register every entry that can be watched and say what became of each."""
        entries = imports.parse_import(text.encode("utf-8", "surrogatepass"))[:MAX_IMPORT]
        outcomes = await _import(services, entries, visitor.caller.actor)
        return render(request, "import.html", visitor=visitor, outcomes=outcomes, text="")

    return pages


def _intervals(default: int) -> list[tuple[int, str]]:
    """The choices, the default among them whatever it is."""
    known = dict(INTERVALS)
    known.setdefault(default, times.duration(default))
    return sorted(known.items())


async def _import(services: Services, entries: Sequence[imports.ImportEntry], actor: str) -> list[Outcome]:
    """Register what can be registered; every entry gets its outcome, in the order of the file."""
    specs = [entry.spec for entry in entries if entry.spec is not None]
    done = iter(await register.register_many(services, specs, actor=actor))
    return [
        Outcome(entry.label, None, entry.problem or "cannot be watched")
        if entry.spec is None
        else _outcome(entry.label, next(done))
        for entry in entries
    ]


def _outcome(label: str, outcome: register.Outcome) -> Outcome:
    if outcome.registered is None:
        return Outcome(label, None, outcome.error.message if outcome.error else "cannot be watched")
    tools = max((len(era.tools) for era in outcome.registered.found), default=0)
    return Outcome(outcome.registered.name, outcome.registered.server_id, f"watched, {words.count(tools, 'tool')}")


def _seal(services: Services, headers: dict[str, str]) -> str:
    if not headers:
        return ""
    ciphertext, _ = services.secrets.seal(json.dumps(headers).encode())
    return ciphertext.decode("ascii")


def _unseal(services: Services, sealed: str) -> dict[str, str]:
    if not sealed:
        return {}
    try:
        headers = json.loads(services.secrets.open(sealed.encode("ascii")))
    except (DriftwatchError, ValueError):
        raise InputError("the form was changed on its way", hint="go back and look again") from None
    return {str(name): str(value) for name, value in headers.items()}
