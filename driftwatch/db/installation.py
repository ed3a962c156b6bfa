"""What is true of the whole installation: which keys its secrets are sealed with."""

from __future__ import annotations

from typing import Final, Protocol

from sqlalchemy import update
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.db.tables import Installation
from driftwatch.errors import DriftwatchError, SettingsError

KNOWN_TEXT: Final = b"driftwatch"


class Box(Protocol):
    """What seals secrets: :class:`driftwatch.servers.secrets.SecretBox`."""

    def seal(self, plain: bytes) -> tuple[bytes, str]:
        """Encrypt; the ciphertext and the key's id."""
        ...

    def open(self, ciphertext: bytes) -> bytes:
        """Decrypt."""
        ...


async def check_key(session: AsyncSession, box: Box) -> None:
    """Make sure that our keys are those of this database; the first process to start decides them.

    Raises:
        SettingsError: the database's secrets were sealed with another key.
    """
    sealed, _ = box.seal(KNOWN_TEXT)
    await session.exec(insert(Installation).values(id=1, key_check=sealed).on_conflict_do_nothing())
    stored = (await session.exec(select(Installation.key_check))).one()
    try:
        box.open(stored)
    except DriftwatchError:
        raise SettingsError(
            "this database's secrets were sealed with another key",
            hint="Put the old key behind the new one: DRIFTWATCH_SECRET_KEY=new,old",
        ) from None
    # Sealed anew, so that after a rotation the old key can be dropped once no credential needs it.
    await session.exec(update(Installation).where(col(Installation.id) == 1).values(key_check=sealed))
