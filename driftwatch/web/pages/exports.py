"""Changes to take along: as Markdown for a ticket or a chat, as JSON for a script. Pure.

Markdown carries text of watched servers: names stand in code spans, everything else is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from driftwatch.history.views import ChangeView
from driftwatch.safe_text import safe_text
from driftwatch.web.pages import times
from driftwatch.web.pages.announced import sentence
from driftwatch.web.pages.entries import Day, Entry
from driftwatch.web.pages.story import Proof

_SPECIAL: Final = re.compile(r"([\\*_\[\]<>#|~&!])")
_SPAN: Final = re.compile(r"(`[^`]{1,200}`)")


def changelog(title: str, days: Sequence[Day], base: str, more: str | None) -> str:
    """A page of the changelog; ``base`` begins every link, ``more`` leads to older changes."""
    lines = [f"# {prose(title)}", ""]
    for day in days:
        lines += [f"## {day.entries[0].at:%Y-%m-%d}", ""]
        lines += [_entry(entry, base) for entry in day.entries]
        lines.append("")
    if not days:
        lines += ["Nothing has changed.", ""]
    return "\n".join([*lines, *([f"[Older]({more})", ""] if more else [])])


def change(change: ChangeView, title: str, proof: Proof, todo: str | None, url: str) -> str:
    """One change with its proof and evidence, for a ticket."""
    versions = " → ".join(f"v{n}" for n in (change.from_version, change.to_version) if n is not None)
    start, end = change.window
    lines = [
        f"## {prose(title)}",
        "",
        f"{code(change.server)} / {code(change.tool)} · {change.verdict or 'being checked'} · {versions} · "
        f"between {times.stamp(start)} and {times.stamp(end)}",
        "",
        *(f"- {prose(finding.message)} ({code(finding.rule)})" for part in change.parts for finding in part.findings),
        "",
        prose(proof.sentence),
        "",
    ]
    if proof.copy:
        lines += ["```json", *(safe_text(line) for line in proof.copy.replace("```", "'''").splitlines()), "```", ""]
    lines += [f"Announced? {prose(sentence(change))}", ""]
    if todo:
        lines += [f"Do: {prose(todo)}", ""]
    return "\n".join([*lines, url, ""])


def plain(change: ChangeView) -> dict[str, Any]:
    """One change for scripts."""
    return {
        "id": change.id,
        "changeset": change.changeset_id,
        "server": change.server,
        "tool": change.tool,
        "era": change.era,
        "kind": change.kind,
        "from_version": change.from_version,
        "to_version": change.to_version,
        "verdict": change.verdict,
        "announcement": change.announcement,
        "announcement_reason": change.announcement_reason,
        "window": [times.iso(change.window[0]), times.iso(change.window[1])],
        "findings": [
            {"part": part.part, "rule": f.rule, "pointer": f.pointer, "level": f.level, "message": f.message}
            for part in change.parts
            for f in part.findings
        ],
    }


def code(text: str) -> str:
    """Text as a code span, whatever it holds."""
    return f"`{' '.join(safe_text(text).replace('`', chr(0x2019)).split())}`"


def prose(text: str) -> str:
    """A sentence in which `names` stand in backticks; the rest cannot become markup."""
    pieces = _SPAN.split(" ".join(text.split()))
    return "".join(
        code(piece[1:-1]) if place % 2 else _SPECIAL.sub(r"\\\1", safe_text(piece).replace("`", chr(0x2019)))
        for place, piece in enumerate(pieces)
    )


def _entry(entry: Entry, base: str) -> str:
    where = code(entry.server) + (f" / {code(entry.tool.name)}" if entry.tool else "")
    what = f"[{entry.state.word}]({base}{entry.href})"
    return f"- {times.clock(entry.at)} {where} {what}: {prose(entry.what)} ({prose(entry.announced)})"
