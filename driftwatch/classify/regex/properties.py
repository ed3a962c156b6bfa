"""What the pattern escape ``p{…}`` stands for: general categories, scripts, and binary properties of characters.

Categories are those of this Python's Unicode version; the others those of jsonschema-rs's, which Python has no table
of.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Final

import jsonschema_rs

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
_SCRIPT: Final = re.compile(r"(?:Script|sc|Script_Extensions|scx)=(?!Unknown|Zzzz)[A-Z][a-z]+(?:_[A-Z][a-z]+)*")
#: what ECMA-262 (2024, table 68) knows of one character, with the short names, and no unassigned one has
_NAMES: Final = """
    ASCII_Hex_Digit AHex Alphabetic Alpha Bidi_Control Bidi_C Bidi_Mirrored Bidi_M Case_Ignorable CI Cased
    Changes_When_Casefolded CWCF Changes_When_Casemapped CWCM Changes_When_Lowercased CWL
    Changes_When_NFKC_Casefolded CWKCF Changes_When_Titlecased CWT Changes_When_Uppercased CWU Dash
    Default_Ignorable_Code_Point DI Deprecated Dep Diacritic Dia Emoji Emoji_Component EComp Emoji_Modifier EMod
    Emoji_Modifier_Base EBase Emoji_Presentation EPres Extended_Pictographic ExtPict Extender Ext Grapheme_Base
    Gr_Base Grapheme_Extend Gr_Ext Hex_Digit Hex IDS_Binary_Operator IDSB IDS_Trinary_Operator IDST ID_Continue IDC
    ID_Start IDS Ideographic Ideo Join_Control Join_C Logical_Order_Exception LOE Lowercase Lower Math
    Pattern_Syntax Pat_Syn Pattern_White_Space Pat_WS Quotation_Mark QMark Radical Regional_Indicator RI
    Sentence_Terminal STerm Soft_Dotted SD Terminal_Punctuation Term Unified_Ideograph UIdeo Uppercase Upper
    Variation_Selector VS White_Space space XID_Continue XIDC XID_Start XIDS
"""
_BINARY: Final = frozenset(_NAMES.split())
_BLOCK: Final = 0x1000
_SURROGATES: Final = range(0xD800, 0xE000)


def property_members(name: str) -> Charset | None:
    """The characters with a property; None for a property that ECMA-262 or we do not know."""
    for prefix in ("General_Category=", "gc="):
        name = name.removeprefix(prefix)
    if name == "Any":
        return EVERY
    if name == "ASCII":
        return charset([(0, 0x7F)])
    if name == "Assigned":
        return complement(_members("Cn"))
    short = _LONG.get(name, name)
    if short in _SHORT:
        return _members(short)
    return _asked(name) if name in _BINARY or _SCRIPT.fullmatch(name) else None


@cache
def _asked(name: str) -> Charset | None:
    """The characters with a property of jsonschema-rs's table, found by asking about ever smaller blocks of them."""
    try:
        some, every = (
            jsonschema_rs.Draft202012Validator({"pattern": pattern}, pattern_options=jsonschema_rs.RegexOptions())
            for pattern in (f"\\p{{{name}}}", f"^\\p{{{name}}}*$")
        )
    except ValueError:
        return None
    return charset(_runs(some, every))


def _runs(some: jsonschema_rs.Validator, every: jsonschema_rs.Validator) -> Iterator[tuple[int, int]]:
    pending = [
        (base + at, text[at : at + _BLOCK]) for base, text in _characters() for at in range(0, len(text), _BLOCK)
    ]
    while pending:
        low, text = pending.pop()
        if not some.is_valid(text):
            continue
        if every.is_valid(text):
            yield low, low + len(text) - 1
        else:
            middle = len(text) // 2
            pending += [(low, text[:middle]), (low + middle, text[middle:])]


@cache
def _characters() -> list[tuple[int, str]]:
    """Every character that may be assigned, in runs with the code point each begins at."""
    runs = ((0, _SURROGATES.start - 1), (_SURROGATES.stop, _ASSIGNED[0][1]), *_ASSIGNED[1:])
    return [(first, "".join(map(chr, range(first, last + 1)))) for first, last in runs]


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
