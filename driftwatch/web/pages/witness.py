"""A JSON value as lines with the failing place marked: the proof of a breaking verdict. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

Kind = Literal["k", "s", "a", "p"]  # key, string, atom, punctuation: the classes of the style sheet

MAX_LINES: Final = 80
MAX_TEXT: Final = 400
ONE_LINE: Final = 72
INDENT: Final = "  "


@dataclass(frozen=True, slots=True)
class Token:
    """A stretch of one line in one ink."""

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """One line. ``bad``: the value is refused here; ``why`` is the validator's reason, on the first bad line."""

    tokens: tuple[Token, ...]
    bad: bool = False
    why: str | None = None


def lines(value: Any, pointer: str | None = None, why: str | None = None) -> tuple[Line, ...]:
    """The value, pretty, at most MAX_LINES lines; the line at ``pointer`` is marked with ``why``."""
    steps = _steps(pointer)
    out: list[Line] = []
    for line in _block(value, 0, (), (), steps):
        if len(out) == MAX_LINES:
            out.append(Line((Token("p", "… cut here; the API has the whole value"),)))
            break
        out.append(line)
    return _with_reason(out, pointer, why)


def as_text(value: Any) -> str:
    """The value on one line of compact JSON, cut at MAX_TEXT."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def _steps(pointer: str | None) -> tuple[str, ...] | None:
    if pointer is None:
        return None
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:])


def _block(
    value: Any, depth: int, lead: tuple[Token, ...], tail: tuple[Token, ...], steps: tuple[str, ...] | None
) -> Iterator[Line]:
    """Lines of one value: ``lead`` (indent and key) before it, ``tail`` (a comma) after it."""
    pad = (Token("p", INDENT * depth), *lead)
    flat = _flat(value) if steps is None or steps == () else None
    items = _items(value)
    if items is None or not items or (flat is not None and len(flat) <= ONE_LINE):
        yield Line((*pad, *_inks(value), *tail), bad=steps == ())
        return
    opening, closing = ("{", "}") if isinstance(value, Mapping) else ("[", "]")
    here = steps == () or (steps is not None and steps[0] not in {key for key, _, _ in items})
    yield Line((*pad, Token("p", opening)), bad=here)
    for position, (key, label, item) in enumerate(items):
        comma = (Token("p", ","),) if position < len(items) - 1 else ()
        below = steps[1:] if steps and steps[0] == key else None
        yield from _block(item, depth + 1, label, comma, below)
    yield Line((Token("p", INDENT * depth + closing), *tail))


def _items(value: Any) -> list[tuple[str, tuple[Token, ...], Any]] | None:
    if isinstance(value, Mapping):
        return [(str(k), (Token("k", _string(str(k))), Token("p", ": ")), item) for k, item in value.items()]
    if isinstance(value, list):
        return [(str(i), (), item) for i, item in enumerate(value)]
    return None


def _inks(value: Any) -> tuple[Token, ...]:
    if isinstance(value, Mapping):
        out: list[Token] = [Token("p", "{")]
        for position, (key, item) in enumerate(value.items()):
            out += [Token("p", ", " if position else " "), Token("k", _string(str(key))), Token("p", ": ")]
            out += _inks(item)
        return (*out, Token("p", " }" if value else "}"))
    if isinstance(value, list):
        out = [Token("p", "[")]
        for position, item in enumerate(value):
            out += [*([Token("p", ", ")] if position else []), *_inks(item)]
        return (*out, Token("p", "]"))
    return (Token("s", _string(value)) if isinstance(value, str) else Token("a", as_text(value)),)


def _flat(value: Any) -> str | None:
    """The value on one line, or None where it would be long anyway."""
    items = _items(value)
    if items is not None and (len(items) > 4 or any(_items(item) for _, _, item in items)):
        return None
    return json.dumps(value, ensure_ascii=False, default=str)


def _string(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return quoted if len(quoted) <= MAX_TEXT else f'{quoted[:MAX_TEXT]}…" ({len(text)} characters)'


def _with_reason(out: list[Line], pointer: str | None, why: str | None) -> tuple[Line, ...]:
    first = next((i for i, line in enumerate(out) if line.bad), None)
    if first is not None:
        out[first] = replace(out[first], why=why or f"refused at {pointer or 'the root'}")
    return tuple(out)
