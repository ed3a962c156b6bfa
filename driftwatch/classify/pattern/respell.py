"""Patterns respelled for jsonschema-rs where it refuses what ECMA-262 (flag ``u``) accepts; the meaning stays."""

from __future__ import annotations

import re
from functools import partial
from typing import Any, Final

from driftwatch.classify.dialect import Dialect
from driftwatch.classify.keywords import VOCABULARY, rebuilt

_NOTHING: Final = r"[^\s\S]"
#: what a class stands for that is closed with nothing inside
_EMPTY: Final = {"[": _NOTHING, "[^": r"[\s\S]"}
_SURROGATE: Final = r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
#: a surrogate pair, a range of or a lone surrogate, an escape, the start of a named group or of a class, its end
_TOKEN: Final = re.compile(
    r"\\u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})"
    rf"|(?P<range>{_SURROGATE}-{_SURROGATE})|(?P<lone>{_SURROGATE})"
    r"|(?P<escape>\\[\s\S])|(?P<group>\(\?<[^=!>]*>)|(?P<open>\[\^?)|(?P<close>\])|(?P<other>[\s\S])"
)


def respelled(pattern: str) -> str:
    r"""The pattern with empty classes, surrogate pairs, ``\0``, ``[\b]`` and group names in words the engine knows.

    Lone surrogates are in no string that a validator can be asked about, so they match nothing. Group names only
    matter to back-references: where there are none, they go.
    """
    named = r"\k" in pattern
    out: list[str] = []
    opened: int | None = None  # where in ``out`` the class around us begins
    for token in _TOKEN.finditer(pattern):
        kind, text = token.lastgroup, token[0]
        if kind == "low":
            out.append(f"\\u{{{_code(token['high'], token['low']):X}}}")
        elif kind == "escape":
            out.append(_escape(text, inside=opened is not None))
        elif opened is None and kind == "open":
            opened = len(out)
            out.append(text)
        elif opened is None:
            out.append(_NOTHING if kind == "lone" else "(" if kind == "group" and not named else text)
        elif kind == "close":
            empty = len(out) == opened + 1
            out[-1:] = [_EMPTY[out[-1]]] if empty else [out[-1], text]
            opened = None
        elif kind != "range":
            out.append(text)
    return "".join(out)


def _code(high: str, low: str) -> int:
    return 0x10000 + ((int(high, 16) - 0xD800) << 10) + (int(low, 16) - 0xDC00)


def _escape(text: str, *, inside: bool) -> str:
    if text == r"\0":
        return r"\x00"
    return r"\x08" if text == r"\b" and inside else text


def document(schema: Any, dialect: Dialect) -> Any:
    """A schema document with every pattern respelled."""
    if not isinstance(schema, dict):
        return schema
    words = VOCABULARY[dialect]
    below = partial(document, dialect=dialect)
    out = {word: rebuilt(words.get(word, "value"), value, below) for word, value in schema.items()}
    if isinstance(out.get("pattern"), str):
        out["pattern"] = respelled(out["pattern"])
    if isinstance(out.get("patternProperties"), dict):
        out["patternProperties"] = _keys(out["patternProperties"])
    return out


def _keys(patterned: dict[str, Any]) -> dict[str, Any]:
    """Patterns that become one must both hold."""
    out: dict[str, Any] = {}
    for pattern, child in patterned.items():
        key = respelled(pattern)
        out[key] = child if key not in out else {"allOf": [out[key], child]}
    return out
