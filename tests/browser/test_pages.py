"""The pages in a real Chromium: nothing blocked, nothing sideways, and every decision works without script."""

from __future__ import annotations

import pytest
from browser.pages import paths
from browser.site import Site, executable
from browser.world import MARKUP_NAME
from playwright.async_api import Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.postgres]


async def sideways(page: Page) -> int:
    return int(await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def test_without_a_browser_the_tests_fail_and_name_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(pytest.fail.Exception, match="apt-get install chromium"):
        executable()


@pytest.mark.parametrize("width", [320, 768, 1440])
async def test_every_page_fits_and_loads_without_complaint(site: Site, width: int) -> None:
    page = await site.open(width=width, dark=width == 768)
    for name, path in paths(site.world).items():
        answer = await page.goto(path)
        assert answer is not None
        assert answer.status == 200, name
        assert await sideways(page) <= 0, name
        assert await page.locator("h1").count() == 1, name
    assert site.complaints == []


async def test_hostile_text_is_text_and_nothing_ran(site: Site) -> None:
    page = await site.open()
    page.on("dialog", lambda dialog: site.complaints.append(f"dialog: {dialog.message}"))
    await page.goto(paths(site.world)["hostile"])
    await expect(page.get_by_role("link", name=MARKUP_NAME).first).to_be_visible()
    await expect(page.locator(".hidden-char", has_text="U+202E").first).to_be_visible()
    assert await page.locator("img").count() == 0
    assert site.complaints == []


async def test_the_witness_stands_at_the_failing_line(site: Site) -> None:
    page = await site.open()
    await page.goto(paths(site.world)["change"])
    await expect(page.locator(".json .bad")).to_contain_text('"status": null')
    await expect(page.locator(".json .bad .why")).to_be_visible()
    await expect(page.get_by_role("heading", name="Was it announced")).to_be_visible()
    box = await page.locator("svg.tl .window").bounding_box()
    assert box is not None
    assert box["width"] > 50


async def test_acknowledge_and_accept_by_clicking_without_script(site: Site) -> None:
    page = await site.open(script=False)
    await expect(page.get_by_role("heading", level=1)).to_have_text("4 need you")
    await page.get_by_role("link", name="Open: orders / get_order").click()
    await page.get_by_role("button", name="Acknowledge").first.click()
    await expect(page.get_by_role("status")).to_contain_text("Acknowledged.")
    await page.get_by_label("Reason").fill("carriers may be pending")
    await page.get_by_role("button", name="Accept v2").click()
    await expect(page.get_by_role("status")).to_contain_text("Accepted.")
    await expect(page.locator("#q5 + p")).to_contain_text("the alert is accepted")
    await page.goto("/")
    await expect(page.get_by_role("heading", level=1)).to_have_text("3 need you")
    assert site.complaints == []


async def test_some_tools_of_a_deploy_are_accepted_without_script(site: Site) -> None:
    page = await site.open(script=False)
    await page.goto(paths(site.world)["changeset"])
    for box in (await page.get_by_role("checkbox").all())[1:]:
        await box.uncheck()
    await page.get_by_label("Reason").fill("known")
    await page.get_by_role("button", name="Accept selected").click()
    await expect(page.get_by_role("status")).to_contain_text("Accepted.")
    await page.goto("/")
    await expect(page.get_by_role("heading", level=1)).to_have_text("4 need you")


async def test_two_versions_are_compared_without_script(site: Site) -> None:
    page = await site.open(script=False)
    await page.goto(paths(site.world)["tool"])
    await page.get_by_label("from", exact=True).select_option("2")
    await page.get_by_label("to", exact=True).select_option("1")
    await page.get_by_role("button", name="Compare").click()
    await expect(page.locator("tr", has=page.locator("th.f", has_text="status")).locator(".m")).to_contain_text(
        "string or null"
    )
    await page.get_by_role("link", name="raw").click()
    await expect(page.locator("pre.json")).to_contain_text('"anyOf"')


async def test_pause_resume_and_sign_out_without_script(site: Site) -> None:
    page = await site.open(script=False)
    await page.goto(f"/servers/{site.world.servers['weather']}")
    await page.get_by_role("button", name="Pause").click()
    await expect(page.get_by_role("status")).to_contain_text("Paused.")
    await page.get_by_role("button", name="Resume").click()
    await expect(page.get_by_role("status")).to_contain_text("Resumed.")
    await page.locator(".who summary").click()
    await page.get_by_role("button", name="Log out").click()
    await page.goto("/")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


async def test_the_theme_is_kept_and_the_slash_finds_the_search(site: Site) -> None:
    page = await site.open()
    background = "getComputedStyle(document.body).backgroundColor"
    light = await page.evaluate(background)
    await page.get_by_text("dark", exact=True).click()
    dark = await page.evaluate(background)
    assert dark != light
    await page.goto("/changelog")
    assert await page.evaluate(background) == dark
    await page.keyboard.press("/")
    await page.keyboard.type("weather")
    await page.keyboard.press("Enter")
    await expect(page.locator("table.fleet tbody tr")).to_have_count(1)
    assert site.complaints == []


async def test_no_page_asks_another_host_for_anything(site: Site) -> None:
    page = await site.open()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for path in paths(site.world).values():
        await page.goto(path)
    assert asked
    assert all(url.startswith((site.url, "data:")) for url in asked)


@pytest.mark.parametrize("dark", [False, True])
async def test_text_can_be_read_in_both_themes(site: Site, dark: bool) -> None:
    """Contrast of body text, muted text and states against what is behind them is at least 4.5."""
    page = await site.open(dark=dark)
    await page.goto(paths(site.world)["change"])
    poor = await page.evaluate(CONTRAST)
    assert poor == []


CONTRAST = """() => {
  const channel = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
  const rgba = (css) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = css; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const behind = (node) => { for (; node; node = node.parentElement) {
    const found = rgba(getComputedStyle(node).backgroundColor); if (found[3] > 250) return found; }
    return rgba(getComputedStyle(document.documentElement).backgroundColor); };
  const poor = [];
  for (const node of document.querySelectorAll("main :is(p,span,b,strong,a,code,td,th,h1,h2,dt,dd,button)")) {
    if (!node.offsetParent || ![...node.childNodes].some((c) => c.nodeType === 3 && c.textContent.trim())) continue;
    if (node.closest(".vh")) continue;
    const [a, b] = [light(rgba(getComputedStyle(node).color)), light(behind(node))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) poor.push(`${node.textContent.trim().slice(0, 40)}: ${ratio.toFixed(2)}`);
  }
  return poor;
}"""


async def test_the_settings_work_without_script(site: Site) -> None:
    page = await site.open(script=False)
    await page.goto("/settings/quiet")
    await page.get_by_label("For", exact=True).select_option("tag:prod")
    await page.get_by_label("from", exact=True).fill("2090-01-01T10:00")
    await page.get_by_label("until", exact=True).fill("2090-01-01T12:00")
    await page.get_by_role("button", name="Plan it").click()
    await expect(page.get_by_role("table", name="Maintenance windows")).to_contain_text("tag prod")
    await page.get_by_role("link", name="policy", exact=True).click()
    await page.get_by_label("Show and change the policy for").select_option("tag:prod")
    await page.get_by_role("button", name="Show").click()
    line = page.get_by_role("row", name="less-safe-hint")
    await line.get_by_role("combobox").select_option("alert:critical")
    await line.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("table", name="Changed lines")).to_contain_text("alert, critical")
    await page.goto("/settings/channels")
    await page.get_by_role("link", name="Filter").first.click()
    filtered = page.get_by_role("region", name="wants to hear")
    await filtered.get_by_label("critical").check()
    await filtered.get_by_text("More conditions").click()
    await filtered.get_by_label("silent", exact=True).check()
    await filtered.get_by_role("button", name="Save the filter").click()
    await expect(page.get_by_role("table").first).to_contain_text("severities: critical; announcements: silent")
    assert site.complaints == []
