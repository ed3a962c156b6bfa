"""Compare two contracts that nobody watches: what ``driftwatch diff`` does, over HTTP."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec
from fastapi import APIRouter, Request

from driftwatch.classify.comparing import Compared, Direction, compare, verdict_of
from driftwatch.classify.contract import read
from driftwatch.errors import CaptureError, InputError
from driftwatch.web.api.convert import assessed_out
from driftwatch.web.api.models import ComparedOut, CompareOut
from driftwatch.web.api.models.compare import EXAMPLES
from driftwatch.web.auth.dependencies import Checker, services_of
from driftwatch.wire.facts import Era

router = APIRouter(tags=["compare"])

MAX_BODY_BYTES: Final = 4 * 1024 * 1024
MAX_CHANGES: Final = 200


class TooLargeError(InputError):
    """More than one question may hold."""

    code = "too-large"
    status = 413


class CompareIn(msgspec.Struct, forbid_unknown_fields=True):
    """The body. ``old`` and ``new`` stay bytes, so that no number loses a digit."""

    old: Annotated[msgspec.Raw, msgspec.Meta(description="What clients hold: a schema, a tool or a tool list.")]
    new: Annotated[msgspec.Raw, msgspec.Meta(description="What the server says now, of the same kind.")]
    direction: Annotated[
        Literal["output", "input", "both"] | None,
        msgspec.Meta(description="Results, arguments, or both. Default: output for schemas, both for tools."),
    ] = None
    root: Annotated[
        Literal["any", "object"] | None,
        msgspec.Meta(description="Of bare output schemas: which results there are. Default: by `era`."),
    ] = None
    era: Annotated[
        Literal["legacy", "modern"],
        msgspec.Meta(description="How results travel: as objects (legacy) or as any JSON value (modern)."),
    ] = "modern"


_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": msgspec.json.schema(CompareIn)["$defs"]["CompareIn"],
                "examples": EXAMPLES,
            }
        },
    }
}


@router.post("/compare", summary="Does NEW break a client that holds OLD?", openapi_extra=_BODY, responses={413: {}})
async def compare_contracts(request: Request, who: Checker) -> CompareOut:
    """Two schemas, two tools or two tool lists: a verdict with a witness, findings, and what each client SDK does.

    Nothing is stored and no server is asked. What takes too long is `undecided`, with a reason.
    """
    asked = _decoded(await _body(request))
    era = Era(asked.era)
    try:
        before, after = read(bytes(asked.old), "old", era), read(bytes(asked.new), "new", era)
        changed = sum(after.tools.get(name) != tool for name, tool in before.tools.items())
        if changed + len(after.tools.keys() - before.tools.keys()) > MAX_CHANGES:
            raise TooLargeError(f"more than {MAX_CHANGES} tools differ", hint="Compare fewer tools at a time.")
        direction = None if asked.direction is None else Direction(asked.direction)
        found = await compare(services_of(request).sandbox, before, after, direction, asked.root)
    except CaptureError as error:
        raise InputError(error.message, hint="Give contracts as plain JSON (RFC 8259).") from error
    return CompareOut(verdict=verdict_of(found), changes=[_compared(one) for one in found])


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise TooLargeError(f"the body is larger than {MAX_BODY_BYTES // 1024 // 1024} MiB", hint="Split it.")
    return bytes(body)


def _decoded(body: bytes) -> CompareIn:
    try:
        return msgspec.json.decode(body, type=CompareIn)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        hint = 'Send {"old": …, "new": …} with contracts as JSON, not as strings.'
        raise InputError(f"the body cannot be read: {error}", hint=hint) from error


def _compared(one: Compared) -> ComparedOut:
    assessment = one.assessment
    return ComparedOut(
        tool=one.tool,
        verdict=assessment.verdict,
        via=assessment.via,
        part=assessment.part,
        parts=[assessed_out(part) for part in assessment.parts],
    )
