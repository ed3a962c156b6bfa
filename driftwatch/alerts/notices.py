"""Messages that are not about one changeset: servers we cannot watch, and the day's quiet changes. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from driftwatch.alerts import words
from driftwatch.alerts.message import Link, Message, Paragraph
from driftwatch.history.views import ChangeView

_LINES: Final = 20
_NAMES: Final = 5


@dataclass(frozen=True, slots=True)
class Blind:
    """A server that cannot be watched: since when, and what the last poll ended with."""

    server: str
    server_id: int
    owner: str | None
    since: datetime
    code: str
    says: str
    last_good: datetime | None
    eras: tuple[str, ...] = ()


def blind_title(blind: Sequence[Blind]) -> str:
    """The title of a not-watching message."""
    where = words.short(blind[0].server) if len(blind) == 1 else words.counted(len(blind), "server")
    return f"◌ Not watching · {where}"


def blind_message(blind: Sequence[Blind], public_url: str) -> Message:
    """One message about every server that has just become blind to us."""
    lines = [_blind(b, named=len(blind) > 1) for b in blind[:_LINES]]
    if len(blind) > _LINES:
        lines.append(f"+{len(blind) - _LINES} more on the overview.")
    paragraphs = [*(Paragraph("text", line) for line in lines), Paragraph("do", _do(blind))]
    if len(blind) == 1:
        last = f"last good poll {words.day(blind[0].last_good)}" if blind[0].last_good else "never polled well"
        paragraphs.append(Paragraph("note", f"{words.owner(blind[0].owner)} · {last}"))
    title = blind_title(blind)
    return Message(title, f"{title}: {blind[0].code}", tuple(paragraphs), (_link(blind, public_url),))


def watching_message(again: Sequence[Blind], public_url: str) -> Message:
    """The resolve message."""
    where = words.short(again[0].server) if len(again) == 1 else words.counted(len(again), "server")
    title = f"✓ Watching again · {where}"
    lines = [f"{words.code(b.server)}: polls succeed again. It was {b.code} since {words.day(b.since)}." for b in again]
    more = [f"+{len(lines) - _LINES} more."] if len(lines) > _LINES else []
    paragraphs = tuple(Paragraph("text", line) for line in [*lines[:_LINES], *more])
    note = Paragraph("note", "What changed in between is compared with what we saw last; it has a wide window.")
    return Message(title, title, (*paragraphs, note), (_link(again, public_url),))


def _blind(blind: Blind, *, named: bool) -> str:
    server = f"{words.code(blind.server)}: " if named else ""
    eras = f" (seen by {' and '.join(words.CLIENTS.get(e, e) for e in blind.eras)} clients)" if blind.eras else ""
    says = words.short(blind.says.rstrip("."), 300)
    code = blind.code if named else blind.code.capitalize()
    return f"{server}{code}{eras} since {words.day(blind.since)}: {says}. Changes in this time cannot be judged."


def _do(blind: Sequence[Blind]) -> str:
    codes = {b.code for b in blind}
    if codes <= {"unauthorized", "forbidden", "token-refused"}:
        return "renew the credential on the server's page."
    if codes == {"no-token"}:
        return "look whether the authorization server answers; the server's page says which one."
    return "look whether the server runs and still answers at its address."


def _link(blind: Sequence[Blind], public_url: str) -> Link:
    if len(blind) == 1:
        return Link(f"{public_url}/servers/{blind[0].server_id}", "Open server")
    return Link(f"{public_url}/", "Open overview")


def summary_message(
    day: date, changes: Sequence[ChangeView], *, total: int, wording_only: int, public_url: str
) -> Message:
    """What changed since the last summary and needed nobody at once.

    ``changes``: the newest of the ``total`` quiet changes; ``wording_only``: how many more changed words or hints only.
    """
    servers: dict[str, list[ChangeView]] = {}
    for change in changes:
        servers.setdefault(change.server, []).append(change)
    title = (
        f"✓ Daily summary, {day:%d %b} · {words.counted(total, 'quiet change')}"
        f" on {words.counted(len(servers), 'server')}"
    )
    lines = [_server(name, found) for name, found in servers.items()]
    more = [f"+{words.counted(len(lines) - _LINES, 'more server')}."] if len(lines) > _LINES else []
    if wording_only:
        more.append(f"Also {words.counted(wording_only, 'change')} of words or hints only.")
    paragraphs = tuple(Paragraph("text", line) for line in [*lines[:_LINES], *more])
    return Message(title, title, paragraphs, (Link(f"{public_url}/changelog", "Open changelog"),))


def _server(name: str, changes: Sequence[ChangeView]) -> str:
    said: Mapping[str, str] = {change.tool: words.sentences(change)[0] for change in changes}
    shown = [_tool(tool, sentence) for tool, sentence in list(said.items())[:_NAMES]]
    more = f" · +{len(said) - _NAMES} more tools" if len(said) > _NAMES else ""
    return f"{words.code(name)}  {' · '.join(shown)}{more}"


def _tool(tool: str, sentence: str) -> str:
    name = words.code(tool)
    return sentence if sentence.startswith(name) else f"{name}: {words.short(sentence, 200)}"
