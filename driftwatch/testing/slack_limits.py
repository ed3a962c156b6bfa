"""Slack's limits on a webhook message, as the fake enforces them. Pure.

What Slack's own documentation of Block Kit and incoming webhooks says, and what it answers when it is not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

MAX_BLOCKS: Final = 50
MAX_CHARACTERS: Final = 13_000
MAX_FALLBACK: Final = 40_000
MAX_VIEW_BLOCKS: Final = 100

_RICH_PARTS: Final = frozenset({"rich_text_section", "rich_text_list", "rich_text_preformatted", "rich_text_quote"})
_RICH_LEAVES: Final = frozenset(
    {"text", "link", "emoji", "user", "usergroup", "channel", "broadcast", "color", "date", "team"}
)


class _InvalidError(Exception):
    """A block breaks a limit; the message says which."""


def refusal(body: object) -> tuple[str, str] | None:
    """Slack's error word and what is wrong, or None when the message is fine."""
    if not isinstance(body, dict):
        return "invalid_payload", "the body is no JSON object"
    blocks = body.get("blocks")
    text = body.get("text")
    if text is not None and not isinstance(text, str):
        return "invalid_payload", "text is no string"
    if not text and not blocks:
        return "no_text", "neither text nor blocks"
    if text and len(text) > MAX_FALLBACK:
        return "msg_too_long", f"text has {len(text)} characters"
    if blocks is None:
        return None
    try:
        _blocks(blocks)
    except _InvalidError as error:
        return "invalid_blocks", str(error)
    size = characters(blocks)
    return None if size <= MAX_CHARACTERS else ("msg_blocks_too_long", f"{size} characters of {MAX_CHARACTERS}")


def refusal_of_view(view: object) -> tuple[str, str] | None:
    """Slack's error word and what is wrong with a dialog, or None when it may open."""
    if not isinstance(view, dict) or view.get("type") != "modal":
        return "invalid_arguments", "the view is no modal"
    try:
        for name in ("title", "submit", "close"):
            if name in view or name == "title":
                _text(view.get(name), 24, kinds={"plain_text"})
        _demand(len(str(view.get("callback_id", ""))) <= 255, "callback_id is longer than 255")
        _demand(len(str(view.get("private_metadata", ""))) <= 3000, "private_metadata is longer than 3000")
        blocks = view.get("blocks")
        _blocks(blocks, MAX_VIEW_BLOCKS)
        asks = any(block["type"] == "input" for block in blocks or ())
        _demand("submit" in view or not asks, "a dialog with a field needs submit")
    except _InvalidError as error:
        return "invalid_arguments", str(error)
    return None


def characters(value: object) -> int:
    """The characters of everything that is shown in some blocks: texts, and where links lead."""
    if isinstance(value, Mapping):
        shown = sum(len(v) for k, v in value.items() if k in {"text", "url"} and isinstance(v, str))
        return shown + sum(characters(v) for v in value.values())
    return sum(characters(v) for v in value) if isinstance(value, list) else 0


def _blocks(blocks: Any, most: int = MAX_BLOCKS) -> None:
    _demand(isinstance(blocks, list), "blocks is no list")
    _demand(len(blocks) <= most, f"{len(blocks)} blocks of {most}")
    for block in blocks:
        _demand(isinstance(block, dict), "a block is no object")
        check = _CHECKS.get(str(block.get("type")))
        if check is None:
            raise _InvalidError(f"unknown block type {block.get('type')!r}")
        _demand(len(str(block.get("block_id", ""))) <= 255, "block_id is longer than 255")
        check(block)


def _header(block: Mapping[str, Any]) -> None:
    _text(block.get("text"), 150, kinds={"plain_text"})


def _section(block: Mapping[str, Any]) -> None:
    fields = block.get("fields")
    _demand("text" in block or bool(fields), "a section has neither text nor fields")
    if "text" in block:
        _text(block["text"], 3000)
    if fields is not None:
        _demand(isinstance(fields, list) and len(fields) <= 10, "more than 10 fields")
        for field in fields:
            _text(field, 2000)


def _context(block: Mapping[str, Any]) -> None:
    elements = _elements(block, 10)
    for element in elements:
        if element.get("type") != "image":
            _text(element, 3000)


def _actions(block: Mapping[str, Any]) -> None:
    elements = _elements(block, 25)
    names = [element["action_id"] for element in elements if "action_id" in element]
    _demand(len(names) == len(set(names)), "two buttons have the same action_id")
    _demand(all(len(str(name)) <= 255 for name in names), "an action_id is longer than 255")
    for element in elements:
        _demand(element.get("type") == "button", "only buttons are known here")
        _text(element.get("text"), 75, kinds={"plain_text"})
        _demand(len(str(element.get("value", ""))) <= 2000, "a button's value is longer than 2000")
        _demand(len(str(element.get("url", ""))) <= 3000, "a button's url is longer than 3000")


def _input(block: Mapping[str, Any]) -> None:
    _text(block.get("label"), 2000, kinds={"plain_text"})
    element = block.get("element")
    if not isinstance(element, dict) or element.get("type") != "plain_text_input":
        raise _InvalidError("only fields of text are known here")
    longest = element.get("max_length", 3000)
    _demand(isinstance(longest, int) and 1 <= longest <= 3000, "max_length is 1 to 3000")


def _rich_text(block: Mapping[str, Any]) -> None:
    for part in _elements(block, 1000):
        _demand(part.get("type") in _RICH_PARTS, f"unknown rich text part {part.get('type')!r}")
        for leaf in _elements(part, 10_000):
            if part["type"] == "rich_text_list":
                _rich_text({"elements": [leaf]})
                continue
            _demand(leaf.get("type") in _RICH_LEAVES, f"unknown rich text element {leaf.get('type')!r}")
            if leaf["type"] == "text":
                _demand(isinstance(leaf.get("text"), str) and leaf["text"] != "", "a text element is empty")
            if leaf["type"] == "link":
                _demand(str(leaf.get("url", "")).startswith(("http://", "https://")), "a link leads nowhere")


def _elements(block: Mapping[str, Any], most: int) -> list[Mapping[str, Any]]:
    elements = block.get("elements")
    if not isinstance(elements, list) or not 1 <= len(elements) <= most:
        raise _InvalidError(f"{block.get('type')} needs 1 to {most} elements")
    _demand(all(isinstance(e, dict) for e in elements), "an element is no object")
    return elements


def _text(value: Any, longest: int, *, kinds: frozenset[str] | set[str] = frozenset({"plain_text", "mrkdwn"})) -> None:
    if not isinstance(value, dict) or value.get("type") not in kinds:
        raise _InvalidError(f"text must be {' or '.join(sorted(kinds))}")
    text = value.get("text")
    if not isinstance(text, str) or not 1 <= len(text) <= longest:
        raise _InvalidError(f"text must have 1 to {longest} characters")
    _demand(value["type"] != "mrkdwn" or "emoji" not in value, "emoji belongs to plain_text")


def _demand(condition: bool, otherwise: str) -> None:
    if not condition:
        raise _InvalidError(otherwise)


_CHECKS: Final[Mapping[str, Callable[[Mapping[str, Any]], None]]] = {
    "header": _header,
    "section": _section,
    "context": _context,
    "actions": _actions,
    "input": _input,
    "rich_text": _rich_text,
    "divider": lambda block: None,
    "image": lambda block: None,
}
