"""SQL of credentials: what is kept, and what became of the last token. Never commits."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import Update, delete, func, update
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.db.stored import row_id, when
from driftwatch.errors import WireError
from driftwatch.servers.credential import (
    DEFAULT,
    Credential,
    header_names,
    kind_of,
    public_fields,
)
from driftwatch.servers.credential_state import CredentialView, state_of
from driftwatch.servers.sealed import SealedCredential, seal_credential
from driftwatch.servers.secrets import SecretBox
from driftwatch.servers.tables import Credential as Row
from driftwatch.wire.grants import Token


async def credential_of(session: AsyncSession, server_id: int, name: str = DEFAULT) -> Row | None:
    """The server's credential of this name."""
    query = select(Row).where(col(Row.server_id) == server_id, col(Row.name) == name)
    return (await session.exec(query)).first()


async def add_credential(session: AsyncSession, box: SecretBox, server_id: int, credential: Credential) -> Row:
    """Keep a credential, sealed; which headers carry it, and what is no secret of it, stays readable."""
    row = Row(server_id=server_id, ciphertext=b"", key_id="")
    await replace_credential(session, box, row, credential)
    return row


async def replace_credential(session: AsyncSession, box: SecretBox, row: Row, credential: Credential) -> None:
    """Put another credential into this place; tokens of the old one are forgotten."""
    row.kind, row.header_names = kind_of(credential), header_names(credential)
    row.settings = public_fields(credential)
    row.ciphertext, row.key_id = seal_credential(box, credential)
    row.token = row.token_expires_at = row.renewed_at = row.failed_at = row.failure = None
    row.granted_scopes = []
    session.add(row)
    await session.flush()
    await session.exec(update(Row).where(col(Row.id) == row.id).values(created_at=func.now()))


async def wipe_credentials(session: AsyncSession, server_id: int) -> None:
    """Delete the server's secrets; profiles forget that they used them."""
    await session.exec(delete(Row).where(col(Row.server_id) == server_id))


def sealed(row: Row | None) -> SealedCredential | None:
    """The stored credential as it travels, closed."""
    if row is None:
        return None
    return SealedCredential(row_id(row.id), row.kind, row.settings or {}, row.ciphertext, row.token)


async def credential_views(session: AsyncSession, servers: Mapping[int, Collection[str]]) -> dict[int, CredentialView]:
    """How the credential of each server stands. ``servers``: server id → the states of its profiles."""
    query = select(Row, func.clock_timestamp()).where(col(Row.server_id).in_(servers), col(Row.name) == DEFAULT)
    return {row.server_id: _view(row, servers[row.server_id], now) for row, now in await session.exec(query)}


def _view(row: Row, profiles: Collection[str], now: datetime) -> CredentialView:
    return CredentialView(
        name=row.name,
        kind=row.kind,
        state=state_of(profiles, now, expires_at=row.token_expires_at, failure=row.failure),
        header_names=tuple(row.header_names),
        set_at=when(row.created_at),
        fields=row.settings or {},
        renewed_at=row.renewed_at,
        expires_at=row.token_expires_at,
        granted_scopes=tuple(row.granted_scopes),
        failed_at=row.failed_at,
        failure=row.failure,
    )


async def keep_token(session: AsyncSession, credential: SealedCredential, token: Token, ciphertext: bytes) -> None:
    """Keep a new token, unless the credential was replaced while it was asked for."""
    values = {
        "token": ciphertext,
        "token_expires_at": token.expires_at,
        "renewed_at": func.now(),
        "granted_scopes": list(token.scopes),
        "failed_at": None,
        "failure": None,
    }
    await session.exec(_this(credential).values(**values))


async def note_failure(session: AsyncSession, credential: SealedCredential, error: WireError) -> None:
    """Keep why no new token could be had."""
    failure = {"code": error.code, "message": error.message[:2000], "hint": error.hint}
    await session.exec(_this(credential).values(failed_at=func.coalesce(Row.failed_at, func.now()), failure=failure))


def _this(credential: SealedCredential) -> Update:
    return update(Row).where(col(Row.id) == credential.id, col(Row.ciphertext) == credential.ciphertext)
