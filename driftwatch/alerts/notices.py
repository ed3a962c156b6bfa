"""Messages that are not about one changeset: servers we cannot watch, and the day's quiet changes. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

import msgspec

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
    return f"◌ Not watching · {_where(blind)}"


def _where(blind: Sequence[Blind]) -> str:
    return words.short(blind[0].server) if len(blind) == 1 else words.counted(len(blind), "server")


def blind_message(blind: Sequence[Blind], public_url: str) -> Message:
    """One message about every server that has just become blind to us."""
    lines = [_blind(b, named=len(blind) > 1) for b in blind[:_LINES]]
    if len(blind) > _LINES:
        lines.append(f"+{len(blind) - _LINES} more on the overview.")
    paragraphs = [*(Paragraph("text", line) for line in lines), Paragraph("do", _do(blind))]
    if len(blind) == 1:
        last = f"last good poll {words.day(blind[0].last_good)}" if blind[0].last_good else "no good poll yet"
        paragraphs.append(Paragraph("note", f"{words.owner(blind[0].owner)} · {last}"))
    title = blind_title(blind)
    return Message(title, f"{title}: {blind[0].code}", tuple(paragraphs), (_link(blind, public_url),))


def still_blind_message(blind: Sequence[Blind], age: str, public_url: str) -> Message:
    """The reminder: nobody acknowledged it. ``age``: for how long the first of them could not be watched."""
    message = blind_message(blind, public_url)
    title = f"Still not watching after {age} · {_where(blind)}"
    note = Paragraph("note", "Acknowledge it on the server's page to stop reminders.")
    return msgspec.structs.replace(message, title=title, fallback=title, paragraphs=(*message.paragraphs, note))


def watching_message(again: Sequence[Blind], public_url: str) -> Message:
    """The resolve message."""
    title = f"✓ Watching again · {_where(again)}"
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
    return f"{server}{code}{eras} since {words.day(blind.since)}: {says}. What changes meanwhile goes unseen."


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
    day: date,
    changes: Sequence[ChangeView],
    *,
    total: int,
    wording_only: int,
    public_url: str,
    spoke_anew: Sequence[str] = (),
) -> Message:
    """What changed since the last summary and needed nobody at once.

    ``changes``: the newest of the quiet changes; ``total``: how many tools changed quietly; ``wording_only``: how many
    changed words or hints only. A tool that several kinds of clients see is one.
    ``spoke_anew``: servers whose instructions, serverInfo, protocol version or capabilities changed.
    """
    servers: dict[str, list[ChangeView]] = {}
    for change in changes:
        servers.setdefault(change.server, []).append(change)
    quiet = f"{words.counted(total, 'quiet change')} on {words.counted(len(servers), 'server')}"
    title = f"✓ Daily summary, {day:%d %b} · {quiet if total else 'servers say something else of themselves'}"
    lines = [_server(name, found) for name, found in servers.items()]
    more = [f"+{words.counted(len(lines) - _LINES, 'more server')}."] if len(lines) > _LINES else []
    if wording_only:
        more.append(f"Also {words.counted(wording_only, 'change')} of words or hints only.")
    if spoke_anew:
        named = ", ".join(words.code(name) for name in spoke_anew[:_NAMES])
        rest = f" and {len(spoke_anew) - _NAMES} more" if len(spoke_anew) > _NAMES else ""
        more.append(f"What they say of themselves (instructions, serverInfo, protocol) changed on {named}{rest}.")
    paragraphs = tuple(Paragraph("text", line) for line in [*lines[:_LINES], *more])
    return Message(title, title, paragraphs, (Link(f"{public_url}/changelog", "Open changelog"),))


def _server(name: str, changes: Sequence[ChangeView]) -> str:
    said: Mapping[str, str] = {change.tool: words.sentences(change)[0] for change in changes}
    shown = [_tool(tool, sentence) for tool, sentence in list(said.items())[:_NAMES]]
    more = f" · +{len(said) - _NAMES} more tools" if len(said) > _NAMES else ""
    return f"{words.short(name)} — {' · '.join(shown)}{more}"


def _tool(tool: str, sentence: str) -> str:
    name = words.code(tool)
    return sentence if sentence.startswith(name) else f"{name}: {words.short(sentence, 200)}"
