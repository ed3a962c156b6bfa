"""A message as Slack's Block Kit. Pure.

Text goes only into plain_text and rich_text: mrkdwn would pass ``<!channel>`` and ``<https://…|text>`` through. The one
mrkdwn field that cannot be avoided, the fallback ``text``, is escaped. An over-long message is clamped, never lost.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from driftwatch.alerts.channels.answer import Form
from driftwatch.alerts.message import Button, Link, Message, Paragraph
from driftwatch.safe_text import safe_text

MAX_BLOCKS: Final = 50
MAX_HEADER: Final = 150
MAX_TEXT: Final = 3000
MAX_MESSAGE: Final = 13_000

#: how long one paragraph may be: the first value with which the whole message fits is taken
_PARAGRAPH_LIMITS: Final = (2900, 1000, 400, 120)
_FALLBACK: Final = 300
_MAX_BUTTON: Final = 75
_ESCAPES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})

Block = dict[str, Any]


def render(message: Message, *, delivery_id: str, form: Form = "full", buttons: bool = False) -> dict[str, Any]:
    """The body of a message. ``minimal`` has no blocks: what is sent when Slack refused the full one.

    ``buttons``: the channel takes presses (an app does, an incoming webhook does not).
    """
    body: dict[str, Any] = {
        "text": _fallback(message, with_links=form == "minimal"),
        "unfurl_links": False,
        "unfurl_media": False,
        "metadata": {"event_type": "driftwatch_delivery", "event_payload": {"delivery_id": delivery_id}},
    }
    if form == "full":
        body["blocks"] = blocks(message, buttons=buttons)
    return body


def blocks(message: Message, *, buttons: bool = False) -> list[Block]:
    """The blocks of a message within Slack's limits; what does not fit becomes "+N more" above the links."""
    ending = [*_links(message.links), *(_buttons(message.buttons) if buttons else [])]
    for limit in _PARAGRAPH_LIMITS:
        built = [_paragraph(p, limit) for p in message.paragraphs if p.text]
        whole = [_header(message.title), *built, *ending]
        if fits(whole):
            return whole
    shortest = [_paragraph(p, _PARAGRAPH_LIMITS[-1]) for p in message.paragraphs if p.text]
    return _shortened(message.title, shortest, ending)


def fits(built: Sequence[Block]) -> bool:
    """True when Slack takes the blocks: the count and the size of the whole."""
    return len(built) <= MAX_BLOCKS and len(json.dumps(built, ensure_ascii=False)) <= MAX_MESSAGE


def _shortened(title: str, built: list[Block], ending: list[Block]) -> list[Block]:
    room = MAX_BLOCKS - 1 - len(ending) - 1
    for kept in range(min(room, len(built)), -1, -1):
        more = _plain_context(f"+{len(built) - kept} more on the page")
        whole = [_header(title), *built[:kept], more, *ending]
        if fits(whole):
            return whole
    return [_header(title)]


def _header(title: str) -> Block:
    text = clamp(safe_text(title, keep_newlines=False), MAX_HEADER)
    return {"type": "header", "text": plain(text)}


def _paragraph(paragraph: Paragraph, limit: int) -> Block:
    if paragraph.kind == "note":
        return _plain_context(clamp(safe_text(paragraph.text, keep_newlines=False), limit))
    if paragraph.kind == "code":
        text = clamp(safe_text(paragraph.text), limit)
        return _rich({"type": "rich_text_preformatted", "elements": [{"type": "text", "text": text}]})
    return section(paragraph.text, limit, lead="Do: " if paragraph.kind == "do" else "")


def section(text: str, limit: int, *, lead: str = "") -> Block:
    """A paragraph of at most ``limit`` characters, pieces in backticks as code; ``lead`` stands before it in bold."""
    elements = _coded(clamp(safe_text(text, keep_newlines=False), limit))
    first: list[Block] = [{"type": "text", "text": lead, "style": {"bold": True}}] if lead else []
    return _rich({"type": "rich_text_section", "elements": [*first, *elements]})


def plain(text: str) -> Block:
    """A text object in which nothing is formatted, linked or mentioned."""
    return {"type": "plain_text", "text": text, "emoji": False}


def _coded(text: str) -> list[Block]:
    """Backticks as code style; text with an odd number of them is left as it is."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return [{"type": "text", "text": text}]
    styled: list[Block] = []
    for index, piece in enumerate(pieces):
        if piece:
            styled.append({"type": "text", "text": piece} | ({"style": {"code": True}} if index % 2 else {}))
    return styled or [{"type": "text", "text": "–"}]


def _rich(element: Block) -> Block:
    return {"type": "rich_text", "elements": [element]}


def _plain_context(text: str) -> Block:
    return {"type": "context", "elements": [plain(text)]}


def _links(links: Sequence[Link]) -> list[Block]:
    return [
        _rich({"type": "rich_text_section", "elements": [{"type": "link", "url": link.url, "text": link.text}]})
        for link in links
    ]


def _buttons(buttons: Sequence[Button]) -> list[Block]:
    elements: list[Block] = []
    for button in buttons:
        text = plain(clamp(safe_text(button.text, keep_newlines=False), _MAX_BUTTON))
        elements.append({"type": "button", "action_id": button.action, "text": text, "value": button.value})
    return [{"type": "actions", "elements": elements}] if elements else []


def _fallback(message: Message, *, with_links: bool) -> str:
    text = clamp(safe_text(message.fallback, keep_newlines=False), _FALLBACK).translate(_ESCAPES)
    return " ".join([text, *(link.url for link in message.links)]) if with_links else text


def clamp(text: str, limit: int) -> str:
    """The text, cut with an ellipsis; counted in UTF-16 units as Slack's clients do."""
    if len(text.encode("utf-16-le")) // 2 <= limit:
        return text
    cut = text.encode("utf-16-le")[: 2 * (limit - 1)].decode("utf-16-le", errors="ignore")
    return cut + "…"
