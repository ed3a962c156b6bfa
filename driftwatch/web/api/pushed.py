"""Snapshots of servers that driftwatch cannot reach: pushed by an agent, or by anybody with the scope ``push``."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from fastapi import APIRouter, Request, Response, status
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from driftwatch.errors import InputError, WireError
from driftwatch.scheduler.pushed import accept
from driftwatch.scheduler.pushed.errors import BadSnapshotError
from driftwatch.scheduler.pushed.statement import Heard, Listening, SenderClock, Stated, Statement, Stretch
from driftwatch.servers import pushed, store
from driftwatch.servers.model import ServerSpec
from driftwatch.web.api.models.pushed import (
    PushedServerIn,
    PushedServerOut,
    SnapshotHead,
    SnapshotIn,
    TakenOut,
    without_references,
)
from driftwatch.web.api.params import RowId
from driftwatch.web.auth.dependencies import Pusher, services_of
from driftwatch.wire import messages
from driftwatch.wire.facts import Era, Restart

router = APIRouter(tags=["pushed servers"])

#: for everything but the pages
LARGEST_HEAD: Final = 1024 * 1024


class BodyTooLargeError(InputError):
    """More bytes than one poll may read."""

    code = "too-large"
    status = 413


@router.post(
    "/servers/pushed",
    status_code=status.HTTP_201_CREATED,
    response_model=PushedServerOut,
    responses={200: {"model": PushedServerOut, "description": "There is one of this name already."}},
    summary="Find or register a pushed server",
)
async def find_pushed_server(
    request: Request, response: Response, who: Pusher, body: PushedServerIn
) -> PushedServerOut:
    """A server that driftwatch cannot reach. It is found by its name; what it is like is changed as for any server."""
    services = services_of(request)
    spec = ServerSpec(
        "",
        body.name,
        interval_seconds=body.interval_seconds,
        tags=tuple(body.tags),
        owner=body.owner,
        mode=body.mode,
        pushed=True,
    )
    async with services.db.transaction() as session:
        found = await pushed.find_or_register(session, services.settings, spec, actor=who.actor)
    if not found.created:
        response.status_code = status.HTTP_200_OK
    return PushedServerOut(
        server_id=found.server_id,
        interval_seconds=found.interval_seconds,
        created=found.created,
        now=services.clock.now(),
    )


@router.post(
    "/servers/{server_id:int}/snapshots",
    response_model=TakenOut,
    summary="Push a snapshot",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": without_references(SnapshotIn.model_json_schema())}},
        }
    },
)
async def push_snapshot(server_id: RowId, request: Request, who: Pusher) -> TakenOut:
    """One complete walk of tools/list, verbatim, with what was heard around it. Treated as a poll of our own.

    Safe to repeat with the same `id`. Times are yours; see `sent_at` and `clock`. A difference is believed when a
    second snapshot confirms it, so follow `look_again_seconds`.
    """
    services = services_of(request)
    received_at = services.clock.now()
    statement = statement_of(await _body(request, services.settings.max_body_bytes + LARGEST_HEAD))
    seen = await accept.read(statement, services.settings)
    async with services.db.transaction() as session:
        taken = await accept.accept(session, services, server_id, statement, seen, received_at)
        interval = (await store.get_server(session, server_id)).interval_seconds
    return TakenOut(
        outcome=taken.outcome,
        profile_id=taken.profile_id,
        changes=list(taken.changes),
        look_again_seconds=taken.look_again_seconds,
        repeated=taken.repeated,
        interval_seconds=interval,
        now=services.clock.now(),
    )


async def _body(request: Request, limit: int) -> bytes:
    received = bytearray()
    async for chunk in request.stream():
        received += chunk
        if len(received) > limit:
            raise BodyTooLargeError(f"The body has more than {limit} bytes.", hint="DRIFTWATCH_MAX_BODY_BYTES.")
    return bytes(received)


def statement_of(body: bytes) -> Statement:
    """The statement in a request's body; its pages stay the bytes they are.

    Raises RequestValidationError for a wrong shape, BadSnapshotError for what is no JSON.
    """
    try:
        members = messages.split_object(body)
        pages = tuple(messages.split_array(members.pop("pages", b"null")))
        if sum(map(len, members.values())) > LARGEST_HEAD:
            raise BodyTooLargeError(f"All but the pages has more than {LARGEST_HEAD} bytes.")
        rest = {name: messages.value(raw) for name, raw in members.items()}
    except WireError as error:
        raise BadSnapshotError(error) from error
    try:
        head = SnapshotHead.model_validate(rest)
    except ValidationError as error:
        raise RequestValidationError([{**e, "loc": ("body", *e["loc"])} for e in error.errors()]) from error
    if not pages:
        missing: dict[str, Any] = {"type": "missing", "loc": ("body", "pages"), "msg": "at least one page"}
        raise RequestValidationError([missing])
    return _statement(head, pages)


def _statement(head: SnapshotHead, pages: tuple[bytes, ...]) -> Statement:
    clock = head.clock
    return Statement(
        id=head.id,
        era=Era(head.era),
        sent_at=head.sent_at,
        window=(head.window.start, head.window.end),
        pages=pages,
        clock=None
        if clock is None
        else SenderClock(timedelta(seconds=clock.offset_seconds), timedelta(seconds=clock.error_seconds)),
        fresh=head.fresh_connection,
        facts=Stated(**head.server.model_dump()),
        heard=Heard(
            coverage=tuple(Stretch(c.start, c.until, c.ended_by, c.why) for c in head.coverage),
            notifications=_times(head.notifications),
            restarts=tuple(Restart(r.at, r.kind, r.detail) for r in head.restarts),
            listening=None if head.listening is None else Listening(head.listening.state, head.listening.reason),
        ),
    )


def _times(times: list[Any]) -> tuple[datetime, ...]:
    return tuple(sorted(times))
