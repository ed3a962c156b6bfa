"""Settings come from the environment, secrets also from files; errors name the variable."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftwatch.errors import SettingsError
from driftwatch.settings import load_settings


def test_what_is_given_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTWATCH_PORT", "1000")
    assert load_settings().port == 1000
    assert load_settings(port=2000).port == 2000


def test_lists_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTWATCH_ALLOW_NETWORKS", "10.0.0.0/8, ::1 ,build.internal,")
    assert load_settings().allow_networks == ("10.0.0.0/8", "::1", "build.internal")


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ({}, "http://127.0.0.1:8787"),
        ({"host": "::1", "port": 80}, "http://[::1]:80"),
        ({"base_url": "https://watch.example/mcp/"}, "https://watch.example/mcp"),
    ],
)
def test_links_in_messages_lead_to_the_public_url(given: dict[str, str | int], url: str) -> None:
    assert load_settings(**given).public_url == url


def test_an_empty_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTWATCH_DATABASE_URL", "")
    assert load_settings().database_url is None


def test_secrets_can_come_from_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("dw_from_a_file\n")
    monkeypatch.setenv("DRIFTWATCH_ADMIN_TOKEN_FILE", str(tmp_path / "token"))
    token = load_settings().admin_token
    assert token is not None
    assert token.get_secret_value() == "dw_from_a_file"
    monkeypatch.setenv("DRIFTWATCH_ADMIN_TOKEN", "dw_from_the_environment")
    token = load_settings().admin_token
    assert token is not None
    assert token.get_secret_value() == "dw_from_the_environment"


def test_only_secrets_can_come_from_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "port").write_text("1")
    monkeypatch.setenv("DRIFTWATCH_PORT_FILE", str(tmp_path / "port"))
    assert load_settings().port == 8787


def test_a_file_that_cannot_be_read_is_named_by_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTWATCH_SECRET_KEY_FILE", "/nowhere/key")
    with pytest.raises(SettingsError, match="DRIFTWATCH_SECRET_KEY_FILE"):
        load_settings()


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("DRIFTWATCH_PORT", "hunter2"),
        ("DRIFTWATCH_ALLOW_NETWORKS", "hunter2/99"),
        ("DRIFTWATCH_CONFIRM_SECONDS", "hunter2"),
        ("DRIFTWATCH_LOG_FORMAT", "hunter2"),
    ],
)
def test_a_bad_value_is_named_by_its_variable(monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError, match=variable):
        load_settings()
