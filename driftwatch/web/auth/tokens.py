"""API tokens ``dw_…`` and one-time login links: made here, stored only as sha256."""

from __future__ import annotations

import hashlib
import secrets

from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.errors import SettingsError
from driftwatch.settings import Settings
from driftwatch.web.auth import store
from driftwatch.web.auth.caller import Caller

PREFIX = "dw_"
LOGIN_LINK_MINUTES = 60
MIN_PRESET_LENGTH = 16


def new_secret() -> str:
    """A fresh token with 256 random bits."""
    return PREFIX + secrets.token_urlsafe(32)


def digest(secret: str) -> bytes:
    """What is stored of a token. A plain hash is enough: the secret has 256 random bits."""
    return hashlib.sha256(secret.encode()).digest()


async def ensure_admin_token(session: AsyncSession, settings: Settings) -> str | None:
    """Make sure that an admin token exists.

    Returns the new secret when one was generated (write it to a 0600 file; it is shown nowhere else), None when one
    was there already or comes from ``DRIFTWATCH_ADMIN_TOKEN``. A changed preset revokes the earlier admin token.

    Raises SettingsError when the preset token is too short to be one.
    """
    preset = settings.admin_token.get_secret_value() if settings.admin_token else None
    if preset is not None:
        if len(preset) < MIN_PRESET_LENGTH:
            raise SettingsError(
                f"DRIFTWATCH_ADMIN_TOKEN has fewer than {MIN_PRESET_LENGTH} characters",
                hint="use a long random value, for example: openssl rand -hex 32",
            )
        hashed = digest(preset)
        await store.revoke_named(session, "admin", except_sha256=hashed)
        if await store.usable_token(session, hashed) is None:
            await store.add_token(session, name="admin", prefix=preset[:6], sha256=hashed, scopes=["admin"])
        return None
    if await store.admin_token(session) is not None:
        return None
    return await issue_admin_token(session)


async def issue_admin_token(session: AsyncSession) -> str:
    """A new admin token, for the first start or when the file that held the old one is lost."""
    secret = new_secret()
    await store.add_token(session, name="admin", prefix=secret[:8], sha256=digest(secret), scopes=["admin"])
    return secret


async def create_login_link(session: AsyncSession) -> str:
    """The path of a login link, ``/login/…``; it works once and for an hour."""
    secret = secrets.token_urlsafe(32)
    await store.add_login_link(session, digest(secret), minutes=LOGIN_LINK_MINUTES)
    return f"/login/{secret}"


async def authenticate(session: AsyncSession, secret: str) -> Caller | None:
    """The caller behind a bearer token, or None. The look-up is by hash, so its time tells nothing about the secret."""
    row = await store.usable_token(session, digest(secret))
    if row is None or row.id is None:
        return None
    await store.touch_token(session, row.id)
    return Caller(actor=row.name, token_id=row.id, scopes=frozenset(row.scopes))
