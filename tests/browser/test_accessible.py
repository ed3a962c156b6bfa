"""Every page as people with other eyes, hands or screens meet it: axe-core, the keyboard, both themes, three widths."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser.pages import paths
from browser.site import Site
from playwright.async_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.postgres]

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"


def engine() -> str:
    if not AXE.exists():
        pytest.fail("axe-core is missing: run npm install in tests/browser", pytrace=False)
    return AXE.read_text()


async def violations(page: Page, source: str) -> list[str]:
    # evaluated by the driver, not loaded by the page: the content security policy stays as strict as it is
    await page.evaluate(source)
    found = await page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{rule['id']} ({rule['impact']}): {node['target']} {node['failureSummary'][:300]}"
        for rule in found["violations"]
        for node in rule["nodes"][:3]
    ]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [320, 768, 1440])
async def test_axe_finds_nothing(site: Site, width: int, dark: bool) -> None:
    source = engine()
    page = await site.open(width=width, dark=dark)
    told: list[str] = []
    for name, path in paths(site.world).items():
        await page.goto(path)
        # what is folded is read by people too
        await page.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = true; })")
        told += [f"{name}: {found}" for found in await violations(page, source)]
        sideways = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert sideways <= 0, f"{name} scrolls sideways at {width} px"
    assert not told, "\n".join(told)


async def test_the_keyboard_reaches_the_content_and_every_control_shows_where_it_is(site: Site) -> None:
    page = await site.open()
    for name in ("overview", "server", "tool", "change", "changeset", "changelog"):
        await page.goto(paths(site.world)[name])
        await page.keyboard.press("Tab")
        assert await page.evaluate("document.activeElement.textContent") == "Skip to content", name
        await page.keyboard.press("Enter")
        assert await page.evaluate("document.activeElement.id") == "main", name
        for _ in range(25):
            await page.keyboard.press("Tab")
            seen = await page.evaluate(
                "(() => { const e = document.activeElement; if (e === document.body) return true;"
                "const s = getComputedStyle(e); const p = e.closest('.seg > label, .choice');"
                "return s.outlineStyle !== 'none' || (p && getComputedStyle(p).outlineStyle !== 'none'); })()"
            )
            assert seen, f"{name}: {await page.evaluate('document.activeElement.outerHTML.slice(0, 200)')}"
