"""The guides to announcing: one text, in the repository and as pages; every answer leads to its words."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from driftwatch.announcement.evidence import Reason
from driftwatch.announcement.guide import GUIDE, how_to_announce
from driftwatch.errors import NotFoundError
from driftwatch.web.pages.guides import document, rendered

FOLDER = Path(__file__).parents[2] / "docs" / "announce"
NAMES = sorted(file.stem for file in FOLDER.glob("*.md"))


@pytest.mark.parametrize("reason", get_args(Reason))
def test_every_reason_leads_to_what_to_do(reason: str) -> None:
    path = how_to_announce("silent", reason)
    assert path == f"{GUIDE}#{reason}"
    _, html = document("README")
    assert f'<h2 id="{reason}">' in html


def test_what_needs_no_advice_gets_none() -> None:
    for answer in ("announced", "unknown", "pending", None):
        assert how_to_announce(answer, None) is None
    assert how_to_announce("silent", "something-new") == GUIDE


@pytest.mark.parametrize("name", NAMES)
def test_a_guide_is_a_page_with_the_same_text(name: str) -> None:
    title, html = document(name)
    source = (FOLDER / f"{name}.md").read_text()
    assert source.startswith(f"# {title}\n")
    assert "<h1" not in html
    shown = re.sub(r"<[^>]+>", "", html.unescape())
    assert re.findall(r"[A-Za-z]{4,}", re.sub(r"\]\([^)]*\)|```(?:python|js)", "", source).split("\n", 1)[1]) == (
        re.findall(r"[A-Za-z]{4,}", shown)
    )
    for target in re.findall(r'href="([^"]+)"', html):
        assert target == GUIDE or target.removeprefix(f"{GUIDE}/") in NAMES


@pytest.mark.parametrize("name", ["nothing", "../README", "..", "", "readme", "x" * 50])
def test_there_is_no_other_guide(name: str) -> None:
    with pytest.raises(NotFoundError):
        document(name)


def test_markup_in_a_guide_is_text() -> None:
    _, html = rendered("# T\n\n<script>alert(1)</script> [x](javascript:alert(1))\n")
    assert "<script" not in html
    assert 'href="javascript' not in html
