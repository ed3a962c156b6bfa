r"""Text from servers made safe to show: what would be invisible or would steer a terminal becomes ``\u{…}``.

One function for pages, Slack, the command line and logs. It does not escape markup; that is each channel's own work.
"""

from __future__ import annotations

import re

# C0 but not tab and newline, DEL, C1, Arabic letter mark, zero-width and direction marks, line and paragraph
# separators, bidi embeddings and overrides, invisible operators and isolates, BOM, surrogates, tag characters.
_HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f"
)
_HIDDEN_RE = re.compile(f"[{_HIDDEN}]")
_HIDDEN_OR_NEWLINE_RE = re.compile(f"[\n{_HIDDEN}]")


def safe_text(text: str, *, keep_newlines: bool = True) -> str:
    r"""The text with control, bidi, zero-width, tag and surrogate characters written as ``\u{202E}``.

    Tabs stay; newlines stay unless ``keep_newlines`` is False (titles, log lines, table cells). The result always
    encodes to UTF-8 and holds no NUL.
    """
    pattern = _HIDDEN_RE if keep_newlines else _HIDDEN_OR_NEWLINE_RE
    return pattern.sub(_visible, text)


def has_hidden(text: str) -> bool:
    """True when the text contains a character that ``safe_text`` makes visible (newlines do not count)."""
    return _HIDDEN_RE.search(text) is not None


def _visible(match: re.Match[str]) -> str:
    return f"\\u{{{ord(match.group()):X}}}"
