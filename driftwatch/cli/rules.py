"""``driftwatch rules``: every rule that findings are named by."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from driftwatch.classify.findings import page


class Format(StrEnum):
    """How the rules are written."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


def rules(
    output_format: Annotated[Format, typer.Option("--format", help="How the rules are written.")] = Format.TEXT,
) -> None:
    """List the rules: what each is called, how bad it is, and why it matters."""
    writers = {Format.TEXT: page.text, Format.MARKDOWN: page.markdown, Format.JSON: page.as_json}
    typer.echo(writers[output_format]().rstrip("\n"))
