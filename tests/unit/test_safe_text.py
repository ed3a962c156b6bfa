import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.safe_text import has_hidden, safe_text, split_hidden

HIDDEN = [
    *range(0x09), *range(0x0B, 0x20), 0x7F, *range(0x80, 0xA0), 0xAD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5,
    *range(0x180B, 0x1810), *range(0x200B, 0x2010), *range(0x2028, 0x202F), *range(0x2060, 0x2070), 0x3164,
    *range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0, 0xFFF9, 0xFFFB, 0x1D173, 0x1D17A, *range(0xE0000, 0xE0080), 0xE0100,
    0xE01EF, 0xD800, 0xDBFF, 0xDC00, 0xDFFF,
]  # fmt: skip
SHOWN = [
    0x09, 0x0A, 0x20, 0x7E, 0xA0, 0xAC, 0xAE, 0x034E, 0x061B, 0x115E, 0x1161, 0x180A, 0x1810, 0x200A, 0x2010, 0x2027,
    0x202F, 0x205F, 0x2070, 0x3163, 0x3165, 0xFDFF, 0xFE10, 0xFEFE, 0xFF9F, 0xFFA1, 0xFFFC, 0xE000, 0x1F600, 0xE1000,
]  # fmt: skip


def test_every_character_of_the_table_becomes_visible():
    for point in HIDDEN:
        assert safe_text(f"a{chr(point)}b") == f"a\\u{{{point:X}}}b"
        assert has_hidden(chr(point))


def test_the_neighbours_of_the_table_stay():
    for point in SHOWN:
        assert safe_text(chr(point)) == chr(point)
        assert not has_hidden(chr(point))


def test_newlines_become_visible_in_single_lines_only():
    assert safe_text("a\n\tb") == "a\n\tb"
    assert safe_text("a\n\tb", keep_newlines=False) == "a\\u{A}\tb"
    assert not has_hidden("a\nb")


@pytest.mark.parametrize("attack", ["\x1b[31mred", "file\u202egnp.exe", "a\rb", "x\u200by", "\U000e0041", "\ud800"])
def test_attacks_are_visible(attack):
    assert "\\u{" in safe_text(attack)


NORMAL = [
    "❤️ ☎️ ✔︎ ©️ ‼️ 1️⃣ #️⃣",  # a selector for colour or outline, also in keycaps
    "👍🏽 👨‍👩‍👧 🏳️‍🌈 ❤️‍🔥 👩🏾‍💻 🧑‍🚀",  # skin tones, families, flags, professions
    "Größe naïve Ελλάδα Привет 東京 한국어 ภาษาไทย עִבְרִית العربية हिन्दी ᠮᠣᠩᠭᠣᠯ ᠠ᠋",
]


@pytest.mark.parametrize("text", NORMAL)
def test_emoji_and_scripts_are_left_alone(text):
    assert safe_text(text) == text
    assert split_hidden(text) == [text]


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("😀\ufe0f\ufe0f", "😀\ufe0f\\u{FE0F}"),
        ("😀\U000e0131\U000e0132", "😀\\u{E0131}\\u{E0132}"),
        ("a\ufe0f", "a\\u{FE0F}"),
        ("1\ufe0fa", "1\\u{FE0F}a"),
        ("👨\u200da", "👨\\u{200D}a"),
        ("a\ufe0f\u200d😀", "a\\u{FE0F}\\u{200D}😀"),
        ("👨\u200d\u200d👩", "👨\\u{200D}\\u{200D}👩"),
        ("co\u00adop", "co\\u{AD}op"),
        ("\u3164", "\\u{3164}"),
        ("\u1820\u180b\u180b", "\u1820\u180b\\u{180B}"),
    ],
)
def test_what_emoji_are_made_of_hides_nothing_elsewhere(text, seen):
    assert safe_text(text) == seen


def test_hidden_characters_stand_at_odd_places():
    assert split_hidden("❤\ufe0f a\u200bb\u202e") == ["❤\ufe0f a", "\u200b", "b", "\u202e", ""]


_TRICKY = st.sampled_from("a1#*❤😀🏽\u20e3\ufe0e\ufe0f\u200d\u180b\u1820\u00ad\u200b\U000e0101")


@given(st.text(alphabet=st.characters()) | st.text(_TRICKY))
def test_result_is_clean_stable_and_encodable(text):
    once = safe_text(text)
    assert not has_hidden(once)
    assert safe_text(once) == once
    once.encode()
    assert re.sub(r"\\u\{([0-9A-F]+)\}", lambda m: chr(int(m[1], 16)), once) == re.sub(
        r"\\u\{([0-9A-F]+)\}", lambda m: chr(int(m[1], 16)), text
    )
