"""The answer of ``driftwatch diff`` as text, JSON or Markdown. Server text never steers the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, Final

import msgspec
from rich.console import Console
from rich.text import Text

from driftwatch.capture.canonical import canonical
from driftwatch.capture.model import Part
from driftwatch.classify.clients import words as client_words
from driftwatch.classify.comparing import Compared
from driftwatch.classify.tool import PartAssessment
from driftwatch.classify.verdict import Finding
from driftwatch.safe_text import safe_text

GLYPHS: Final = {"compatible": "✓", "breaking": "✕", "undecided": "?", "invalid": "⊘"}
_STYLES: Final = {"compatible": "green", "breaking": "bold red", "undecided": "yellow", "invalid": "bold magenta"}
_MARKS: Final = {"breaking": "✕", "warning": "!", "info": "✓", "annotation": "·"}
_VIA: Final = {
    "undeclared-key": "only through a key that nobody declared: strictly a break, rare in practice",
    "unsafe-number": "only through a number beyond ±(2^53 − 1), which many clients cannot hold",
}


def as_json(verdict: str, found: Sequence[Compared]) -> str:
    """One JSON document: ``verdict`` and ``changes``, each with its parts, witnesses and findings."""
    changes = [
        {"tool": compared.tool, **msgspec.to_builtins(compared.assessment, builtin_types=(Decimal,))}
        for compared in found
    ]
    return msgspec.json.format(canonical({"verdict": verdict, "changes": changes}).data, indent=2).decode()


def show(verdict: str, found: Sequence[Compared]) -> None:
    """The answer on the terminal."""
    console = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
    for compared in found:
        _show_one(console, compared)
    if not found:
        console.print("Both say the same.")
    elif len(found) > 1 or found[0].tool is None:
        console.print(_verdict(verdict))


def _show_one(console: Console, compared: Compared) -> None:
    assessment = compared.assessment
    title = Text()
    if compared.tool is not None:
        title.append(safe_text(compared.tool, keep_newlines=False), style="bold").append("  ")
        console.print(title.append(_verdict(assessment.verdict)))
    for part in assessment.parts:
        for line, style in _lines(part, alone=compared.tool is None):
            console.print(Text(safe_text(line, keep_newlines=False), style=style))


def _verdict(verdict: str) -> Text:
    return Text(f"{GLYPHS[verdict]} {verdict}", style=_STYLES[verdict])


def _lines(part: PartAssessment, *, alone: bool) -> Iterator[tuple[str, str]]:
    quiet = part.part not in (Part.INPUT, Part.OUTPUT)
    if not quiet:
        because = f" ({part.reason})" if part.reason else ""
        yield f"  {part.part}: {GLYPHS[part.verdict]} {part.verdict}{because}", _STYLES[part.verdict]
    for finding in part.findings:
        yield f"    {_sentence(finding)}", "dim" if finding.level == "annotation" else ""
    proof = _proof(part)
    if proof:
        yield f"    {proof}", ""
    told = _told(part)
    if told:
        yield f"    {told}", ""
    if part.via in _VIA:
        yield f"    {_VIA[part.via]}", "dim"


def _sentence(finding: Finding) -> str:
    return f"{_MARKS[finding.level]} {finding.message}  [{finding.rule} {finding.pointer or '/'}]"


def _proof(part: PartAssessment) -> str | None:
    if part.witness is None:
        return None
    if part.witness.get("absent"):
        return "a client that holds the old schema refuses a result without structuredContent"
    who = "the server now refuses" if part.part is Part.INPUT else "a client that holds the old schema refuses"
    why = (part.clients or {}).get("refusal")
    where = (part.clients or {}).get("refused_at")
    reason = f"   {where or '/'}: {why}" if why else ""
    return f"{who}: {_json(part.witness['value'])}{reason}"


def _told(part: PartAssessment) -> str:
    """Which SDKs refuse the witness."""
    return client_words.sentence((part.clients or {}).get("answers") or (), "the old schema")


def _json(value: Any) -> str:
    return canonical(value).data.decode()


def as_markdown(verdict: str, found: Sequence[Compared]) -> str:
    """The answer for a pull request or a wiki."""
    lines = [f"**{GLYPHS[verdict]} {verdict}**", ""]
    for compared in found:
        if compared.tool is not None:
            title = f"{_escaped(compared.tool)}: {GLYPHS[compared.assessment.verdict]} {compared.assessment.verdict}"
            lines += [f"### {title}", ""]
        for part in compared.assessment.parts:
            lines += _markdown(part)
    if not found:
        lines += ["Both say the same.", ""]
    return "\n".join(lines).rstrip()


def _markdown(part: PartAssessment) -> list[str]:
    lines = [f"- {part.part}: {GLYPHS[part.verdict]} {part.verdict}" + (f" ({part.reason})" if part.reason else "")]
    lines += [
        f"  - {_MARKS[f.level]} {_escaped(f.message)} (`{f.rule}` at `{f.pointer or '/'}`)" for f in part.findings
    ]
    proof = _proof(part)
    if proof:
        lines.append(f"  - {_escaped(proof)}")
    if _told(part):
        lines.append(f"  - {_told(part)}")
    if part.via in _VIA:
        lines.append(f"  - {_VIA[part.via]}")
    return [*(safe_text(line, keep_newlines=False) for line in lines), ""]


def _escaped(text: str) -> str:
    """Server text as Markdown shows it: no markup of its own beyond the code spans findings use for names."""
    out = safe_text(text, keep_newlines=False)
    for character in "\\*_[]<>|#!":
        out = out.replace(
            character, f"\\{character}" if character not in "<>" else f"&{'lt' if character == '<' else 'gt'};"
        )
    return out
