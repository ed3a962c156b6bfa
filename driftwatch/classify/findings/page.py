"""The rules as documentation: docs/rules/ is what ``folder`` returns, and a test keeps it so."""

from __future__ import annotations

import json
from typing import Any, Final

from driftwatch.classify.findings import RULES
from driftwatch.classify.findings.rule import Rule

INDEX: Final = "README.md"
_INTRODUCTION: Final = """# Rules

A verdict is proved, never guessed from rules. Rules name what changed, in words people can act on. Every finding has
a rule, a JSON Pointer into the schema, a level and an effect.

Levels: `breaking` (a client that holds the old contract is refused, or refuses), `warning` (breaks only in unusual
cases, or needs a look), `info` (news), `annotation` (words only). A rule's level is the worst it is reported at: where
a proof on the place itself shows that nothing breaks, the finding is `info`; where only undeclared keys or numbers
beyond ±(2^53 − 1) break, `warning`.

This folder is written by `driftwatch rules --write docs/rules`; the examples are the rules' tests.
"""
_SUBJECTS: Final = {"schema": "schema", "tool": "tool as it is listed", "server": "fact"}


def folder() -> dict[str, str]:
    """Every file of docs/rules/ by its name: the index, and a page for each rule."""
    return {INDEX: _index(), **{file_name(rule): markdown(rule) for rule in RULES.values()}}


def file_name(rule: Rule) -> str:
    """The page of a rule in docs/rules/."""
    return f"{rule.id}.md"


def markdown(rule: Rule) -> str:
    """The page of one rule."""
    subject = _SUBJECTS[rule.subject]
    return "\n".join(
        [
            *(f"# {rule.id}", "", f"> {rule.words}", "", rule.why, ""),
            *(
                "| level | direction | effect |",
                "|---|---|---|",
                f"| {rule.level} | {rule.direction} | {rule.effect} |",
            ),
            *("", "## Example", "", f"The {subject} before:", "", *_json(rule.example.before), ""),
            *("and after:", "", *_json(rule.example.after), "", f"[All rules]({INDEX})", ""),
        ]
    )


def text() -> str:
    """A table for the terminal."""
    width = max(map(len, RULES))
    return "\n".join(f"{rule.id:{width}}  {rule.level:10}  {rule.direction:6}  {rule.words}" for rule in RULES.values())


def as_json() -> str:
    """Every rule with its example, for programs."""
    return json.dumps(as_data(), indent=2, ensure_ascii=False)


def as_data() -> list[dict[str, Any]]:
    """Every rule with its example, as JSON values."""
    return [_plain(rule) for rule in RULES.values()]


def _index() -> str:
    rows = [
        f"| [{rule.id}]({file_name(rule)}) | {rule.level} | {rule.direction} | {rule.effect} | {_cell(rule.words)} |"
        for rule in RULES.values()
    ]
    return "\n".join(
        [_INTRODUCTION, "| rule | level | direction | effect | says |", "|---|---|---|---|---|", *rows, ""]
    )


def _plain(rule: Rule) -> dict[str, Any]:
    return {
        **{key: getattr(rule, key) for key in ("id", "level", "direction", "effect", "subject", "why", "words")},
        "example": {"before": rule.example.before, "after": rule.example.after},
    }


def _json(value: Any) -> list[str]:
    if value is None:
        return ["(not there)"]
    return ["```json", json.dumps(value, indent=2, ensure_ascii=True), "```"]


def _cell(words: str) -> str:
    return words.replace("|", "\\|")
