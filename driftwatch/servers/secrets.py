"""Credentials at rest: sealed with Fernet keys from a setting or from a 0600 file in the home."""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path
from typing import Final

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from driftwatch.errors import DriftwatchError, SettingsError
from driftwatch.settings import Settings

KEY_FILE: Final = "secret-key"
NEW_KEY_HINT: Final = "Make a key with: openssl rand -base64 32 | tr '+/' '-_'"


class SealError(DriftwatchError):
    """A ciphertext that none of our keys opens: forged, damaged, or sealed with a key that is gone."""

    code = "cannot-open-secret"


class SecretBox:
    """Seals with the first key, opens with any of them: so keys are rotated by putting a new one in front."""

    def __init__(self, keys: list[bytes]) -> None:
        """Take Fernet keys (32 bytes, urlsafe base64), newest first.

        Raises:
            SettingsError: there is none, or one is not a Fernet key.
        """
        if not keys:
            raise SettingsError("DRIFTWATCH_SECRET_KEY is empty", hint=NEW_KEY_HINT)
        try:
            self._fernet = MultiFernet([Fernet(key) for key in keys])
        except ValueError:
            # The reason is dropped on purpose: it may quote the key.
            raise SettingsError("a secret key is not 32 bytes in urlsafe base64", hint=NEW_KEY_HINT) from None
        self._key_id = hashlib.sha256(keys[0]).hexdigest()[:16]

    @property
    def key_id(self) -> str:
        """Names the key that :meth:`seal` uses, without telling anything about it."""
        return self._key_id

    def seal(self, plain: bytes) -> tuple[bytes, str]:
        """Encrypt; returns the ciphertext (ASCII) and the id of the key."""
        return self._fernet.encrypt(plain), self._key_id

    def open(self, ciphertext: bytes) -> bytes:
        """Decrypt what :meth:`seal` made.

        Raises:
            SealError: no key of ours opens it.
        """
        try:
            return self._fernet.decrypt(ciphertext)
        except InvalidToken:
            raise SealError(
                "a stored secret cannot be opened", hint="Is its key still in DRIFTWATCH_SECRET_KEY?"
            ) from None


def open_box(settings: Settings) -> SecretBox:
    """The box of this installation.

    With an external database the key must come from a setting: a generated one in some process's home would be lost
    with it, or differ from the next process's. With the embedded database it lies in the same home.

    Raises:
        SettingsError: the key is missing or unusable, or others can read its file.
    """
    if settings.secret_key is not None:
        keys = settings.secret_key.get_secret_value().split(",")
        return SecretBox([key.strip().encode() for key in keys if key.strip()])
    if settings.database_url is not None:
        raise SettingsError("DRIFTWATCH_DATABASE_URL needs DRIFTWATCH_SECRET_KEY as well", hint=NEW_KEY_HINT)
    return SecretBox([_key_from(settings.home / KEY_FILE)])


def _key_from(file: Path) -> bytes:
    if not file.exists():
        _create(file, Fernet.generate_key())
    if file.stat().st_mode & 0o077:
        raise SettingsError(f"others can read {file}", hint=f"chmod 600 '{file}'")
    return file.read_bytes().strip()


def _create(file: Path, content: bytes) -> None:
    """Write a 0600 file in one step; when another process was quicker, its content stays."""
    partial = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
        stream.write(content + b"\n")
        stream.flush()
        os.fsync(stream.fileno())
    try:
        os.link(partial, file)
    except FileExistsError:
        return
    finally:
        partial.unlink()
