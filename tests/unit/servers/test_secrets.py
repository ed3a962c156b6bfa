"""SecretBox: what is sealed, with which key, and who may hold it."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from driftwatch.errors import SettingsError
from driftwatch.servers.secrets import SealError, SecretBox, open_box
from driftwatch.settings import Settings

OLD, NEW = Fernet.generate_key(), Fernet.generate_key()


def test_what_is_sealed_opens_again() -> None:
    box = SecretBox([NEW])
    ciphertext, key_id = box.seal(b"Bearer hunter2")
    assert b"hunter2" not in ciphertext
    assert key_id == box.key_id
    assert box.open(ciphertext) == b"Bearer hunter2"


def test_a_new_key_in_front_opens_what_the_old_one_sealed() -> None:
    ciphertext, old_id = SecretBox([OLD]).seal(b"x")
    rotated = SecretBox([NEW, OLD])
    assert rotated.open(ciphertext) == b"x"
    assert rotated.key_id != old_id
    assert SecretBox([NEW]).open(rotated.seal(b"y")[0]) == b"y"


@pytest.mark.parametrize("forged", [b"", b"nonsense", SecretBox([OLD]).seal(b"x")[0]])
def test_what_no_key_opens_is_a_named_error(forged: bytes) -> None:
    with pytest.raises(SealError):
        SecretBox([NEW]).open(forged)


def test_the_embedded_installation_makes_its_own_key_once(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    ciphertext, _ = open_box(settings).seal(b"x")
    assert open_box(settings).open(ciphertext) == b"x"
    assert [file.name for file in tmp_path.iterdir()] == ["secret-key"]
    assert stat.S_IMODE((tmp_path / "secret-key").stat().st_mode) == 0o600


def test_a_key_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    open_box(Settings(home=tmp_path))
    (tmp_path / "secret-key").chmod(0o644)
    with pytest.raises(SettingsError, match="others can read"):
        open_box(Settings(home=tmp_path))


def test_an_external_database_needs_the_key_from_a_setting(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="DRIFTWATCH_SECRET_KEY") as caught:
        open_box(Settings(home=tmp_path, database_url="postgresql://db/x"))
    assert caught.value.hint is not None
    assert list(tmp_path.iterdir()) == []


def test_keys_from_the_setting_are_a_list_newest_first(tmp_path: Path) -> None:
    box = open_box(Settings(home=tmp_path, secret_key=f" {NEW.decode()} ,{OLD.decode()}"))
    assert box.key_id == SecretBox([NEW]).key_id
    assert box.open(SecretBox([OLD]).seal(b"x")[0]) == b"x"


@pytest.mark.parametrize("bad", ["", " , ", "hunter2"])
def test_a_bad_key_is_refused_without_being_quoted(tmp_path: Path, bad: str) -> None:
    with pytest.raises(SettingsError) as caught:
        open_box(Settings(home=tmp_path, secret_key=bad))
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None
