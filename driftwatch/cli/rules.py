"""``driftwatch rules``: every rule that findings are named by."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from driftwatch.classify.findings import RULES, page
from driftwatch.errors import InputError


class Format(StrEnum):
    """How the list of rules is written."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


def rules(
    rule: Annotated[str | None, typer.Argument(help="One rule: its page, with the example.")] = None,
    output_format: Annotated[Format, typer.Option("--format", help="How the list is written.")] = Format.TEXT,
    write: Annotated[Path | None, typer.Option(help="Write a page for each rule, and an index, here.")] = None,
) -> None:
    """List the rules: what each is called, how bad it is, and why it matters."""
    if write is not None:
        _written(write)
        return
    if rule is not None:
        typer.echo(_page(rule).rstrip("\n"))
        return
    writers = {Format.TEXT: page.text, Format.MARKDOWN: lambda: page.folder()[page.INDEX], Format.JSON: page.as_json}
    typer.echo(writers[output_format]().rstrip("\n"))


def _page(rule: str) -> str:
    if rule not in RULES:
        raise InputError(f"there is no rule {rule!r}", hint="`driftwatch rules` lists them.")
    return page.markdown(RULES[rule])


def _written(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in page.folder().items():
        (folder / name).write_text(text, encoding="utf-8")
    typer.echo(f"{len(RULES)} rules in {folder}")
