r"""Text from servers made safe to show: what would be invisible or would steer a terminal becomes ``\u{…}``.

One function for pages, Slack, the command line and logs. It does not escape markup; that is each channel's own work.

Hidden is what draws nothing and is not needed where it stands. Emoji are made of such characters: a variation selector
behind a pictograph or inside a keycap stays, and so does a joiner between two pictographs. One selector says colour or
outline; a run of them could spell a message, so a second one is shown.
"""

from __future__ import annotations

import re
from typing import Final

# Control characters (not tab and newline), direction marks, embeddings and isolates, line and paragraph separators,
# surrogates; and whatever Unicode lets a renderer leave out: soft hyphen, grapheme joiner, Hangul and Khmer fillers,
# zero-width and invisible operators, byte order mark, annotation and music marks, tags, variation selectors.
_ALWAYS: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_PICTOGRAPH: Final = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_KEYCAP: Final = "[0-9#*]\ufe0f(?=\u20e3)"
# One class of characters first, which is what makes the search quick; then where they are needed.
_HIDDEN: Final = (
    f"[{_ALWAYS}\u180b-\u180d\u180f\u200d\ufe0e\ufe0f](?:(?<=[{_ALWAYS}])"
    f"|(?<=[\ufe0e\ufe0f])(?<!{_PICTOGRAPH}[\ufe0e\ufe0f])(?<!{_KEYCAP})"
    f"|(?<=\u200d)(?:(?<!{_PICTOGRAPH}\u200d)(?<!{_PICTOGRAPH}\ufe0f\u200d)|(?!{_PICTOGRAPH}))"
    "|(?<=[\u180b-\u180d\u180f])(?<![\u1820-\u18aa].))"
)
_HIDDEN_RE: Final = re.compile(f"({_HIDDEN})")
_HIDDEN_OR_NEWLINE_RE: Final = re.compile(f"(\n|{_HIDDEN})")


def safe_text(text: str, *, keep_newlines: bool = True) -> str:
    r"""The text with control, bidi, invisible, tag and surrogate characters written as ``\u{202E}``.

    Tabs stay; newlines stay unless ``keep_newlines`` is False (titles, log lines, table cells). The result always
    encodes to UTF-8 and holds no NUL.
    """
    pattern = _HIDDEN_RE if keep_newlines else _HIDDEN_OR_NEWLINE_RE
    return pattern.sub(_visible, text)


def has_hidden(text: str) -> bool:
    """True when the text contains a character that ``safe_text`` makes visible (newlines do not count)."""
    return _HIDDEN_RE.search(text) is not None


def split_hidden(text: str) -> list[str]:
    """The text in pieces: at even places what may be shown, at odd places one hidden character each."""
    return _HIDDEN_RE.split(text)


def _visible(match: re.Match[str]) -> str:
    return f"\\u{{{ord(match.group()):X}}}"
