"""SQL of authentication: tokens, login links, the audit log."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import func, or_, update
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession
from sqlmodel.sql.expression import SelectOfScalar

from driftwatch.web.auth.tables import ApiToken, AuditEntry, LoginLink


async def usable_token(session: AsyncSession, sha256: bytes) -> ApiToken | None:
    """The token with this hash, unless it is revoked or expired."""
    found = await session.exec(_usable().where(ApiToken.sha256 == sha256))
    return found.one_or_none()


async def usable_token_by_id(session: AsyncSession, token_id: int) -> ApiToken | None:
    """The token with this id, unless it is revoked or expired."""
    found = await session.exec(_usable().where(ApiToken.id == token_id))
    return found.one_or_none()


def _usable() -> SelectOfScalar[ApiToken]:
    return select(ApiToken).where(
        col(ApiToken.revoked_at).is_(None),
        or_(col(ApiToken.expires_at).is_(None), col(ApiToken.expires_at) > func.now()),
    )


async def touch_token(session: AsyncSession, token_id: int) -> None:
    """Note that the token was used; at most once a minute, so that a busy script does not rewrite the row."""
    stale = or_(
        col(ApiToken.last_used_at).is_(None),
        col(ApiToken.last_used_at) < func.now() - func.make_interval(0, 0, 0, 0, 0, 1),
    )
    await session.exec(update(ApiToken).where(col(ApiToken.id) == token_id, stale).values(last_used_at=func.now()))


async def admin_token(session: AsyncSession) -> ApiToken | None:
    """The usable token named ``admin`` that was created first."""
    found = await session.exec(_usable().where(ApiToken.name == "admin").order_by(col(ApiToken.id)))
    row: ApiToken | None = found.first()
    return row


async def add_token(
    session: AsyncSession,
    *,
    name: str,
    prefix: str,
    sha256: bytes,
    scopes: list[str],
    expires_at: datetime | None = None,
) -> ApiToken:
    """Store a token by its hash."""
    row = ApiToken(name=name, prefix=prefix, sha256=sha256, scopes=scopes, expires_at=expires_at)
    session.add(row)
    await session.flush()
    return row


async def revoke_named(session: AsyncSession, name: str, *, except_sha256: bytes) -> None:
    """Revoke every usable token of that name but one."""
    await session.exec(
        update(ApiToken)
        .where(col(ApiToken.name) == name, col(ApiToken.sha256) != except_sha256, col(ApiToken.revoked_at).is_(None))
        .values(revoked_at=func.now())
    )


async def add_login_link(session: AsyncSession, sha256: bytes, *, minutes: int) -> None:
    """Store a login link by its hash; the database's clock sets its end."""
    await session.exec(
        LoginLink.__table__.insert().values(  # type: ignore[attr-defined]  # SQLModel hides the table attribute
            sha256=sha256, expires_at=func.now() + func.make_interval(0, 0, 0, 0, 0, minutes)
        )
    )


async def spend_login_link(session: AsyncSession, sha256: bytes) -> bool:
    """True once: the link existed, was neither used nor expired, and is used now."""
    spent = await session.exec(
        update(LoginLink)
        .where(
            col(LoginLink.sha256) == sha256,
            col(LoginLink.used_at).is_(None),
            col(LoginLink.expires_at) > func.now(),
        )
        .values(used_at=func.now())
        .returning(col(LoginLink.sha256))
    )
    return spent.first() is not None


async def write_audit(
    session: AsyncSession,
    *,
    actor: str,
    action: str,
    subject: str,
    before: Any = None,
    after: Any = None,
    request_id: str | None = None,
) -> None:
    """Append to the audit log, in the transaction of the write it tells about. Never secrets, never schema bodies."""
    session.add(
        AuditEntry(actor=actor, action=action, object=subject, before=before, after=after, request_id=request_id)
    )
