"""How an alert's first message reads now, and the short messages that follow it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from driftwatch.alerts import words
from driftwatch.alerts.message import Button, Link, Message, Paragraph, Subject, Told, by_tool, drift_message

ACKNOWLEDGE: Final = "acknowledge"
ACCEPT: Final = "accept"
MUTE: Final = "mute-24h"

_DONE: Final = {
    "acknowledged": "● Acknowledged",
    "accepted": "✓ Accepted",
    "settled": "✓ Settled",
    "reverted": "✓ Back at the accepted contract",
}


def current(
    subject: Subject, told: Sequence[Told], *, alert_id: int, title: str, state: str, by: str | None
) -> Message:
    """The first message of an alert with what became of it on top and the buttons that still make sense."""
    loud = any(t.outcome == "alert" for t in told)
    message = drift_message(subject, told) if loud else Message(title, title, (), (page_of(subject),))
    done = _DONE.get(state)
    status = [Paragraph("note", f"{done}{f' by {words.short(by)}' if by else ''}.")] if done else []
    return msgspec.structs.replace(
        message,
        title=f"✓ {title}" if state in {"accepted", "settled", "reverted"} else message.title,
        paragraphs=(*status, *message.paragraphs),
        buttons=_buttons(alert_id, state),
    )


def _buttons(alert_id: int, state: str) -> tuple[Button, ...]:
    if state not in {"open", "acknowledged"}:
        return ()
    value = str(alert_id)
    first = (Button(ACKNOWLEDGE, "Acknowledge", value),) if state == "open" else ()
    return (*first, Button(ACCEPT, "Accept…", value), Button(MUTE, "Mute 24 h", value))


def acceptance(told: Sequence[Told]) -> str:
    """What accepting an alert means, before somebody does it."""
    changes = [drift.change for drift in by_tool(told)]
    names = words.listed([words.code(change.tool) for change in changes], most=6)
    if len(changes) == 1 and changes[0].to_version is not None:
        names += f" v{changes[0].to_version}"
    those = "is" if len(changes) == 1 else "are"
    return (
        f"{names} {those} what later changes are compared with from now on, and the alert closes. "
        "Clients that still hold the old contract are not helped by it."
    )


def accepted(told: Sequence[Told], left: int) -> str:
    """What was accepted, for the thread; ``left``: how many tools of the alert were not."""
    if left:
        return f"✓ Accepted in part, {left} left"
    versions = [drift.change.to_version for drift in by_tool(told)]
    return f"✓ Accepted v{versions[0]}" if len(versions) == 1 and versions[0] is not None else "✓ Accepted"


def line(done: str, subject: Subject, *, by: str | None = None, reason: str | None = None) -> Message:
    """One line in the alert's thread: what was done, by whom, why."""
    who = f" by {words.short(by)}" if by else ""
    why = f": {words.short(reason, 500)}" if reason else ""
    text = f"{done}{who}{why}."
    return Message(text, text, (), (page_of(subject),))


def reminder(title: str, age: str, subject: Subject, do: str | None) -> Message:
    """An alert is still open and nobody has acknowledged it."""
    head = f"Still open after {age} · {title}"
    paragraphs = (
        *((Paragraph("do", do),) if do else ()),
        Paragraph("note", f"{words.owner(subject.owner)} · acknowledge it to stop reminders"),
    )
    return Message(head, head, paragraphs, (page_of(subject),))


def digest(subject: Subject, lines: Sequence[str], *, why: str) -> Message:
    """Several alerts of a server in one message."""
    title = f"{words.counted(len(lines), 'alert')} · {words.short(subject.server)}"
    shown = [Paragraph("text", entry) for entry in lines[:20]]
    more = [Paragraph("note", f"+{len(lines) - 20} more on the server's page.")] if len(lines) > 20 else []
    url = f"{subject.public_url}/servers/{subject.server_id}"
    do = Paragraph("do", "look at the server's page; the open ones need someone.")
    return Message(title, title, (Paragraph("note", why), *shown, *more, do), (Link(url, "Open server"),))


def page_of(subject: Subject) -> Link:
    """The page of an alert's deploy."""
    return Link(f"{subject.public_url}/changesets/{subject.changeset_id}", "Open changes")
