"""The keys of an installation are decided by the first process and checked by all others."""

from __future__ import annotations

import pytest
from cryptography.fernet import Fernet

from driftwatch.db.engine import Database
from driftwatch.db.installation import check_key
from driftwatch.errors import SettingsError
from driftwatch.servers.secrets import SecretBox

OLD, NEW = Fernet.generate_key(), Fernet.generate_key()


async def check(db: Database, *keys: bytes) -> None:
    async with db.transaction() as session:
        await check_key(session, SecretBox(list(keys)))


async def test_the_same_key_is_welcome_again(db: Database) -> None:
    await check(db, OLD)
    await check(db, OLD)


async def test_another_key_is_refused(db: Database) -> None:
    await check(db, OLD)
    with pytest.raises(SettingsError, match="another key"):
        await check(db, NEW)
    await check(db, OLD)


async def test_after_a_rotation_the_old_key_can_be_dropped(db: Database) -> None:
    await check(db, OLD)
    await check(db, NEW, OLD)
    await check(db, NEW)
