"""Everything that changed, as messages for a thread: what the first message had no room for. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from driftwatch.alerts import words
from driftwatch.alerts.message import Link, Message, Paragraph, Told
from driftwatch.history.views import ChangeView, PartView

_CHUNK: Final = 2_600
_CHUNKS_A_MESSAGE: Final = 4
_MESSAGES: Final = 6
_VALUE: Final = 160
_GLYPHS: Final = {"breaking": "✕", "warning": "!", "info": "✓", "annotation": "·"}
_SIGNS: Final = {"added": "+", "removed": "−", "changed": "~"}


def full_diff(told: Sequence[Told], url: str) -> tuple[Message, ...]:
    """The whole of a changeset in as many messages as it takes, at most six; the page has the rest.

    What alerts comes first. What several kinds of clients see alike is written once.
    """
    seen = dict[tuple[str, ...], list[str]]()
    for change in (t.change for t in sorted(told, key=lambda t: t.outcome != "alert")):
        lines = (f"{words.short(change.tool)}  {words.versions(change)}", *_change(change))
        seen.setdefault(lines, []).append(change.era)
    found = (line for lines, eras in seen.items() for line in (f"{lines[0]}  ({words.seen_by(eras)})", *lines[1:]))
    chunks = list(_chunks(found))
    pages = [chunks[i : i + _CHUNKS_A_MESSAGE] for i in range(0, len(chunks), _CHUNKS_A_MESSAGE)]
    shown = pages[:_MESSAGES]
    return tuple(_message(page, number, len(pages), url) for number, page in enumerate(shown, 1))


def _message(page: Sequence[str], number: int, pages: int, url: str) -> Message:
    place = f", {number} of {pages}" if pages > 1 else ""
    title = f"Full diff{place}"
    cut = pages > _MESSAGES == number
    more = [Paragraph("note", f"+{pages - _MESSAGES} more pages of this size are on the page.")] if cut else []
    return Message(title, title, (*(Paragraph("code", chunk) for chunk in page), *more), (Link(url, "Open in full"),))


def _chunks(lines: Iterable[str]) -> Iterator[str]:
    chunk, size = list[str](), 0
    for line in lines:
        if chunk and size + len(line) > _CHUNK:
            yield "\n".join(chunk)
            chunk, size = [], 0
        chunk.append(line)
        size += len(line) + 1
    if chunk:
        yield "\n".join(chunk)


def _change(change: ChangeView) -> Iterator[str]:
    if change.kind != "changed" and not any(part.findings for part in change.parts):
        yield f"  {words.sentences(change)[0].replace('`', '')}"
    for part in change.parts:
        yield from _part(part)


def _part(part: PartView) -> Iterator[str]:
    yield f"  {part.part}: {part.verdict}" + (f" ({words.short(part.reason, _VALUE)})" if part.reason else "")
    for found in part.findings:
        where = f" at {words.short(found.pointer)}" if found.pointer else ""
        said = words.short(found.message, 2 * _VALUE).replace("`", "")
        yield f"    {_GLYPHS.get(found.level, '·')} {said} [{found.rule}]{where}"
    for path in part.paths:
        where = words.short(str(path.get("pointer") or "/"))
        yield f"    {_SIGNS.get(str(path.get('kind')), '~')} {where}{_values(path)}"


def _values(path: Mapping[str, Any]) -> str:
    """What stands at a path: both values of a change, else the one there is."""
    old, new = _value(path.get("old")), _value(path.get("new"))
    if old and new:
        return f": {old} → {new}"
    return f": {old or new}" if old or new else ""


def _value(value: Any) -> str:
    if value is None:
        return ""
    return words.short(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), _VALUE)
