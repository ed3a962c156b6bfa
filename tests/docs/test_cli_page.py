"""docs/cli.md lists every command there is, and the ones that ask a service as such."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from driftwatch.cli.main import cli

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def commands() -> Iterator[tuple[str, Any]]:
    """Every command by its words, those of groups included."""

    def below(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        if hasattr(command, "commands"):
            for name, inner in command.commands.items():
                yield from below(inner, (*words, name))
        else:
            yield " ".join(words), command

    yield from below(typer.main.get_command(cli), ())


def test_the_page_lists_every_command() -> None:
    rows = re.findall(r"^\| `([a-z -]+)` \| .* \| (yes)? ?\|$", PAGE.read_text(), re.MULTILINE)
    assert {name for name, _ in rows} == {name for name, _ in commands()}


def test_commands_that_ask_a_service_all_take_url_token_and_json() -> None:
    rows = dict(re.findall(r"^\| `([a-z -]+)` \| .* \| (yes)? ?\|$", PAGE.read_text(), re.MULTILINE))
    for name, command in commands():
        options = {option for parameter in command.params for option in parameter.opts}
        assert ({"--url", "--token"} <= options) == (rows[name] == "yes"), name
        if rows[name] == "yes" and name != "servers remove":
            assert "--json" in options, name
        assert command.help, name
