"""Unicode general categories, as the Unicode version of this Python knows them (pattern escape ``p{…}``)."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Final

from driftwatch.classify.regex.charset import EVERY, LAST, Charset, charset, complement

#: beyond these planes nothing is assigned but private use, whose category is known without asking
_ASSIGNED: Final = ((0, 0x3FFFF), (0xE0000, 0xE0FFF))
_PRIVATE: Final = ((0xF0000, 0xFFFFD), (0x100000, 0x10FFFD))
_LONG: Final = {
    "Letter": "L",
    "Cased_Letter": "LC",
    "Uppercase_Letter": "Lu",
    "Lowercase_Letter": "Ll",
    "Titlecase_Letter": "Lt",
    "Modifier_Letter": "Lm",
    "Other_Letter": "Lo",
    "Mark": "M",
    "Combining_Mark": "M",
    "Nonspacing_Mark": "Mn",
    "Spacing_Mark": "Mc",
    "Enclosing_Mark": "Me",
    "Number": "N",
    "Decimal_Number": "Nd",
    "digit": "Nd",
    "Letter_Number": "Nl",
    "Other_Number": "No",
    "Punctuation": "P",
    "punct": "P",
    "Connector_Punctuation": "Pc",
    "Dash_Punctuation": "Pd",
    "Open_Punctuation": "Ps",
    "Close_Punctuation": "Pe",
    "Initial_Punctuation": "Pi",
    "Final_Punctuation": "Pf",
    "Other_Punctuation": "Po",
    "Symbol": "S",
    "Math_Symbol": "Sm",
    "Currency_Symbol": "Sc",
    "Modifier_Symbol": "Sk",
    "Other_Symbol": "So",
    "Separator": "Z",
    "Space_Separator": "Zs",
    "Line_Separator": "Zl",
    "Paragraph_Separator": "Zp",
    "Other": "C",
    "Control": "Cc",
    "cntrl": "Cc",
    "Format": "Cf",
    "Private_Use": "Co",
    "Unassigned": "Cn",
}
_SHORT: Final = frozenset(_LONG.values())


def property_members(name: str) -> Charset | None:
    """The characters with a property; None for properties other than general categories, ``Any`` and ``ASCII``."""
    for prefix in ("General_Category=", "gc="):
        name = name.removeprefix(prefix)
    if name == "Any":
        return EVERY
    if name == "ASCII":
        return charset([(0, 0x7F)])
    if name == "Assigned":
        return complement(_members("Cn"))
    short = _LONG.get(name, name)
    return _members(short) if short in _SHORT else None


@cache
def _members(category: str) -> Charset:
    wanted = ("Lu", "Ll", "Lt") if category == "LC" else (category,)
    return charset(
        interval for found, intervals in _categories().items() if found.startswith(wanted) for interval in intervals
    )


@cache
def _categories() -> dict[str, list[tuple[int, int]]]:
    """Runs of code points with the same category, by category."""
    runs: dict[str, list[tuple[int, int]]] = {"Co": list(_PRIVATE)}
    last = -1
    for first, end in _ASSIGNED:
        runs.setdefault("Cn", []).append((last + 1, first - 1))
        start, held = first, unicodedata.category(chr(first))
        for code in range(first + 1, end + 2):
            found = unicodedata.category(chr(code)) if code <= end else ""
            if found != held:
                runs.setdefault(held, []).append((start, code - 1))
                start, held = code, found
        last = end
    runs["Cn"] += [(last + 1, _PRIVATE[0][0] - 1), (0xFFFFE, 0xFFFFF), (0x10FFFE, LAST)]
    runs["Cn"] = [(low, high) for low, high in runs["Cn"] if low <= high]
    return runs
