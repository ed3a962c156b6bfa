"""Who may come in at the first start: the admin token in a 0600 file, and a login link that works once."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Final

from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.errors import SettingsError
from driftwatch.settings import Settings
from driftwatch.web.auth import store, tokens
from driftwatch.web.loopback import is_loopback

FILE_NAME: Final = "admin-token"


def token_file(settings: Settings) -> Path:
    """Where a generated admin token is kept."""
    return settings.home / FILE_NAME


def refuse_strangers(settings: Settings) -> None:
    """Do not listen beyond this machine before anybody holds a token.

    Raises:
        SettingsError: the listen address is not loopback and neither a setting nor an earlier start made a token.
    """
    if settings.admin_token is None and not token_file(settings).exists() and not is_loopback(settings.host):
        raise SettingsError(
            f"{settings.host} can be reached from other machines, and no admin token is set",
            hint="Set DRIFTWATCH_ADMIN_TOKEN to a long random value, or start once on 127.0.0.1.",
        )


async def prepare(session: AsyncSession, settings: Settings) -> bool:
    """Make sure that an admin token exists; a generated one goes to a file, and nowhere else.

    Returns True when one was generated now.

    Raises:
        SettingsError: the database is external, so that no home is the right one for a generated token.
    """
    external = settings.database_url is not None
    if external and settings.admin_token is None and await store.admin_token(session) is None:
        raise SettingsError(
            "DRIFTWATCH_DATABASE_URL needs DRIFTWATCH_ADMIN_TOKEN as well",
            hint="Use a long random value, for example: openssl rand -hex 32",
        )
    secret = await tokens.ensure_admin_token(session, settings)
    lost = settings.admin_token is None and not external and not token_file(settings).exists()
    if secret is None and lost:
        secret = await tokens.issue_admin_token(session)
    if secret is None:
        return False
    # Before the transaction commits: a crash in between leaves a useless file, never a token that nobody knows.
    _write_private(token_file(settings), secret)
    return True


def _write_private(file: Path, content: str) -> None:
    partial = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        stream.write(content + "\n")
        stream.flush()
        os.fsync(stream.fileno())
    partial.replace(file)
