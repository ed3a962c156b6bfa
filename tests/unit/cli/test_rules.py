"""``driftwatch rules``: the table, one rule, programs, and the folder of the documentation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from driftwatch.classify.findings import RULES, page
from driftwatch.cli.main import cli
from driftwatch.errors import InputError


def said(*arguments: str) -> str:
    answer = CliRunner().invoke(cli, ["rules", *arguments], catch_exceptions=False)
    assert answer.exit_code == 0
    return answer.output


def test_the_table_has_every_rule_once() -> None:
    assert [line.split()[0] for line in said().splitlines()] == list(RULES)


def test_one_rule_is_its_page() -> None:
    assert said("output-null-added").rstrip() == page.markdown(RULES["output-null-added"]).rstrip()
    with pytest.raises(InputError, match="no rule 'output-nul-added'"):
        said("output-nul-added")


def test_other_forms() -> None:
    assert [rule["id"] for rule in json.loads(said("--format", "json"))] == list(RULES)
    assert said("--format", "markdown").startswith("# Rules\n")


def test_the_folder_is_written(tmp_path: Path) -> None:
    assert f"{len(RULES)} rules" in said("--write", str(tmp_path / "rules"))
    assert {path.name: path.read_text() for path in (tmp_path / "rules").iterdir()} == page.folder()
