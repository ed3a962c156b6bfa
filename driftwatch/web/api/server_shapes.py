"""Servers between the API's shapes and the room's. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, cast

from pydantic import BaseModel

from driftwatch.errors import DriftwatchError
from driftwatch.servers.credential import Credential, of_fields
from driftwatch.servers.credential_state import CredentialView
from driftwatch.servers.errors import NameTakenError
from driftwatch.servers.model import UNSET, Preview, Problem, ServerSpec
from driftwatch.servers.model import ServerPatch as Patch
from driftwatch.servers.read import ServerView
from driftwatch.servers.register import Outcome
from driftwatch.web.api.models import (
    BatchOutcome,
    ChallengeOut,
    CredentialOut,
    EraName,
    Failure,
    FoundEra,
    ImportIn,
    PreviewOut,
    ProfileOut,
    ServerIn,
    ServerOut,
    ServerPatch,
)
from driftwatch.wire.facts import Era


def spec_of(body: ServerIn | ImportIn, imported: ServerSpec | None = None) -> ServerSpec:
    """What to register: a body of its own, or an imported entry with the import's common fields."""
    common: dict[str, Any] = {
        "interval_seconds": body.interval_seconds,
        "tags": tuple(body.tags),
        "owner": body.owner,
    }
    if isinstance(body, ImportIn):
        if imported is None:
            raise TypeError("an import has entries")
        return replace(imported, **common)
    return ServerSpec(
        url=body.url,
        name=body.name,
        headers=body.headers,
        credential=None if body.credential is None else _credential(body.credential),
        eras=_eras(body.eras),
        listen=body.listen,
        mode=body.mode,
        transitive=body.transitive,
        **common,
    )


def patch_of(body: ServerPatch) -> Patch:
    """The fields that were sent. Only ``owner`` and ``credential`` may be null: there is none then."""
    sent = {name: getattr(body, name) for name in body.model_fields_set}
    fields: dict[str, Any] = {name: value for name, value in sent.items() if value is not None or name in _MAY_BE_NULL}
    if fields.get("credential") is not None:
        fields["credential"] = _credential(fields["credential"])
    if "eras" in fields:
        fields["eras"] = _eras(fields["eras"])
    if "tags" in fields:
        fields["tags"] = tuple(fields["tags"])
    return Patch(**{name: fields.get(name, UNSET) for name in Patch.__dataclass_fields__})


_MAY_BE_NULL: Final = ("owner", "credential")


def _credential(body: BaseModel) -> Credential:
    given = body.model_dump()
    return of_fields(given.pop("kind"), given)


def _eras(eras: str | list[EraName]) -> frozenset[Era] | None:
    return None if isinstance(eras, str) else frozenset(Era(era) for era in eras)


def server_out(view: ServerView) -> ServerOut:
    """A server as the API shows it: header names, never their values."""
    server = view.server
    if server.id is None or server.created_at is None:
        raise TypeError("a stored server has an id and a time")
    return ServerOut(
        id=server.id,
        name=server.name,
        url=server.url,
        pushed=server.pushed,
        owner=server.owner,
        tags=server.tags,
        interval_seconds=server.interval_seconds,
        eras="auto" if server.eras is None else cast("list[EraName]", list(server.eras)),
        listen=server.listen,
        mode=server.mode,
        transitive=server.transitive,
        state=server.state,
        headers_set=[] if view.credential is None else list(view.credential.header_names),
        credential=None if view.credential is None else _credential_out(view.credential),
        created_at=server.created_at,
        profiles=[
            ProfileOut(
                id=state.profile_id,
                era=cast("EraName", profile.era),
                state=state.state,
                protocol_version=state.protocol_version,
                server_info=state.server_info,
                list_changed_declared=state.list_changed_declared,
                tool_count=state.tool_count,
                ttl_ms=state.ttl_ms,
                cache_scope=state.cache_scope,
                last_poll_at=state.last_poll_at,
                next_due_at=state.next_due_at,
                failing_since=state.failing_since,
                last_error=_failure(state.last_error),
            )
            for profile, state in view.profiles
        ],
    )


def _credential_out(view: CredentialView) -> CredentialOut:
    return CredentialOut(
        name=view.name,
        kind=view.kind,
        state=view.state,
        headers_set=list(view.header_names),
        set_at=view.set_at,
        username=view.fields.get("username"),
        issuer=view.fields.get("issuer"),
        client_id=view.fields.get("client_id"),
        scopes=list(view.fields.get("scopes") or ()),
        granted_scopes=list(view.granted_scopes),
        renewed_at=view.renewed_at,
        expires_at=view.expires_at,
        failed_at=view.failed_at,
        failure=_failure(view.failure),
    )


def _failure(stored: Any) -> Failure | None:
    if not isinstance(stored, dict):
        return None
    challenge = stored.get("challenge")
    return Failure(
        code=str(stored.get("code")),
        message=str(stored.get("message")),
        hint=stored.get("hint"),
        challenge=None if challenge is None else ChallengeOut(**challenge),
    )


def preview_out(preview: Preview) -> PreviewOut:
    """What a look at a server found."""
    return PreviewOut(
        url=preview.url,
        eras=[
            FoundEra(
                era=found.era.value,
                protocol_version=found.protocol_version,
                server_info=found.server_info,
                list_changed_declared=found.list_changed_declared,
                tools=[tool.name for tool in found.tools],
                outputs_declared=found.outputs_declared,
                findings=[
                    {"rule": finding.rule, "pointer": finding.pointer, "message": finding.message}
                    for finding in found.findings
                ],
            )
            for found in preview.found
        ],
        problems={era.value: _problem(problem) for era, problem in preview.problems.items()},
    )


def _failure_of(error: DriftwatchError) -> Failure:
    challenge = getattr(getattr(error, "cause", None), "challenge", None)
    return _problem(Problem(error.code, error.message, error.hint, challenge))


def _problem(problem: Problem) -> Failure:
    challenge = None if problem.challenge is None else ChallengeOut(**problem.challenge.shown())
    return Failure(code=problem.code, message=problem.message, hint=problem.hint, challenge=challenge)


def outcome_out(outcome: Outcome, *, label: str | None = None) -> BatchOutcome:
    """What became of one entry of a batch."""
    if outcome.registered is not None:
        registered = outcome.registered
        return BatchOutcome(
            url=outcome.spec.url, name=registered.name, status="registered", server_id=registered.server_id
        )
    error = outcome.error or DriftwatchError("nothing happened")
    return BatchOutcome(
        url=outcome.spec.url,
        name=outcome.spec.name or label,
        status="exists" if isinstance(error, NameTakenError) else "refused",
        problem=_failure_of(error),
    )
