"""What the options of ``driftwatch agent`` come to, and which are refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from driftwatch.cli.agent import target_of
from driftwatch.cli.main import cli
from driftwatch.errors import InputError
from driftwatch.wire.facts import Target
from driftwatch.wire.process import Command

ENVIRONMENT = {"PATH": "/bin", "HOME": "/root", "KEY": "k", "DRIFTWATCH_TOKEN": "dw_secret"}


def test_a_command_gets_what_is_named_and_no_more(tmp_path: Path) -> None:
    file = tmp_path / "env"
    file.write_text("# comment\n\nOTHER=a=b c\n")
    found = target_of("npx 'some server' --flag", ENVIRONMENT, ["KEY"], file, None)
    assert isinstance(found, Command)
    assert found.words == ("npx", "some server", "--flag")
    assert found.env == {"PATH": "/bin", "HOME": "/root", "KEY": "k", "OTHER": "a=b c"}


def test_a_url_gets_its_headers(tmp_path: Path) -> None:
    file = tmp_path / "headers"
    file.write_text("Authorization: Bearer abc\n")
    found = target_of("http://10.0.0.1/mcp", ENVIRONMENT, (), None, file)
    assert found == Target("http://10.0.0.1/mcp", {"Authorization": "Bearer abc"})
    assert "abc" not in repr(found)


@pytest.mark.parametrize(
    ("target", "env", "lines"),
    [("", (), None), ("'open", (), None), ("npx x", ("MISSING",), None), ("npx x", (), "not an assignment: s3cret")],
)
def test_what_cannot_be_run_is_said_without_secrets(
    tmp_path: Path, target: str, env: tuple[str, ...], lines: str | None
) -> None:
    file = None
    if lines is not None:
        file = tmp_path / "env"
        file.write_text(lines)
    with pytest.raises(InputError) as refused:
        target_of(target, ENVIRONMENT, env, file, None)
    assert "s3cret" not in refused.value.message


@pytest.mark.parametrize(
    ("arguments", "env", "message"),
    [
        (["npx x", "--to", "http://127.0.0.1:1", "--name", "x"], {}, "no API token"),
        (["npx x", "--to", "http://127.0.0.1:1"], {"DRIFTWATCH_TOKEN": "dw_x"}, "a command needs a name"),
        (["npx x", "--to", "ftp://x", "--name", "x"], {"DRIFTWATCH_TOKEN": "dw_x"}, "no http or https"),
        (["http://x", "--to", "http://127.0.0.1:1", "--env", "PATH"], {"DRIFTWATCH_TOKEN": "dw_x"}, "for commands"),
    ],
)
def test_refusals(arguments: list[str], env: Mapping[str, str], message: str) -> None:
    result = CliRunner().invoke(cli, ["agent", *arguments], env={"DRIFTWATCH_TOKEN": None, **env})
    assert result.exit_code != 0
    assert isinstance(result.exception, InputError)
    assert message in result.exception.message


def test_the_token_is_no_option() -> None:
    result = CliRunner().invoke(cli, ["agent", "npx x", "--to", "http://127.0.0.1:1", "--token", "dw_x"])
    assert result.exit_code == 2
