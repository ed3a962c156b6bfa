import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.safe_text import has_hidden, safe_text

HIDDEN = [
    *range(0x09), *range(0x0B, 0x20), 0x7F, *range(0x80, 0xA0), 0x061C, *range(0x200B, 0x2010),
    *range(0x2028, 0x202F), *range(0x2060, 0x206A), 0xFEFF, *range(0xE0000, 0xE0080), 0xD800, 0xDBFF, 0xDC00, 0xDFFF,
]  # fmt: skip
SHOWN = [0x09, 0x0A, 0x20, 0x7E, 0xA0, 0x061B, 0x200A, 0x2010, 0x2027, 0x202F, 0x205F, 0x206A, 0xFEFE, 0xE000, 0x1F600]


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


@given(st.text(alphabet=st.characters()))
def test_result_is_clean_stable_and_encodable(text):
    once = safe_text(text)
    assert not has_hidden(once)
    assert safe_text(once) == once
    once.encode()
    assert re.sub(r"\\u\{([0-9A-F]+)\}", lambda m: chr(int(m[1], 16)), once) == re.sub(
        r"\\u\{([0-9A-F]+)\}", lambda m: chr(int(m[1], 16)), text
    )
