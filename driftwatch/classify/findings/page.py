"""The rules as documentation: docs/rules.md is what ``markdown`` returns, and a test keeps it so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from driftwatch.classify.findings import RULES
from driftwatch.classify.findings.rule import Rule

_HEAD = """# Rules

A verdict is proved, never guessed from rules. Rules name what changed, in words people can act on. Every finding has
a rule, a JSON Pointer into the schema, a level and an effect.

Levels: `breaking` (a client that holds the old contract is refused, or refuses), `warning` (breaks only in unusual
cases, or needs a look), `info` (news), `annotation` (words only). A rule's level is the worst it is reported at: where
a proof on the place itself shows that nothing breaks, the finding is `info`; where only undeclared keys or numbers
beyond ±(2^53 − 1) break, `warning`.

This page is written by `driftwatch rules --format markdown`; the examples are the rules' tests.
"""


def markdown() -> str:
    """The page docs/rules.md."""
    lines = [_HEAD, "| rule | level | direction | effect | says |", "|---|---|---|---|---|"]
    lines += [
        f"| [{rule.id}](#{rule.id}) | {rule.level} | {rule.direction} | {rule.effect} | {_cell(rule.words)} |"
        for rule in RULES.values()
    ]
    return "\n".join([*lines, "", *(line for rule in RULES.values() for line in _section(rule))])


def _section(rule: Rule) -> Iterator[str]:
    yield from (f"## {rule.id}", "", rule.why, "", f"> {rule.words}", "")
    yield from ("before:", "", "```json", _json(rule.example.before), "```", "")
    yield from ("after:", "", "```json", _json(rule.example.after), "```", "")


def text() -> str:
    """A table for the terminal."""
    width = max(map(len, RULES))
    return "\n".join(f"{rule.id:{width}}  {rule.level:10}  {rule.direction:6}  {rule.words}" for rule in RULES.values())


def as_json() -> str:
    """Every rule with its example, for programs."""
    return json.dumps([_plain(rule) for rule in RULES.values()], indent=2, ensure_ascii=False)


def _plain(rule: Rule) -> dict[str, Any]:
    return {
        **{key: getattr(rule, key) for key in ("id", "level", "direction", "effect", "subject", "why", "words")},
        "example": {"before": rule.example.before, "after": rule.example.after},
    }


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=True)


def _cell(words: str) -> str:
    return words.replace("|", "\\|")
