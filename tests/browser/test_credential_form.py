"""A credential is chosen by kind; only the fields of that kind are there."""

from __future__ import annotations

import pytest
from browser.site import Site

pytestmark = [pytest.mark.browser, pytest.mark.postgres]

FIELDS = {
    "none": set(),
    "headers": {"header", "secret"},
    "bearer": {"token"},
    "basic": {"username", "password"},
    "client-secret": {"issuer", "client_id", "scopes", "client_secret", "method"},
    "private-key-jwt": {"issuer", "client_id", "scopes", "private_key", "algorithm"},
}
SHOWN = """
[...document.querySelectorAll('.kinds .kind input, .kinds .kind select, .kinds .kind textarea')]
    .filter((one) => one.offsetParent !== null).map((one) => one.name)
"""


async def test_only_the_fields_of_the_chosen_kind_are_shown(site: Site) -> None:
    page = await site.open()
    await page.goto("/servers/new")
    for kind, fields in FIELDS.items():
        await page.check(f"input[name=kind][value={kind}]")
        assert set(await page.evaluate(SHOWN)) == fields, kind
    await page.goto(f"/servers/{site.world.servers['orders']}")
    await page.click("#credential summary")
    assert await page.is_checked("input[name=kind][value=keep]")
    assert await page.evaluate(SHOWN) == []
    await page.check("input[name=kind][value=bearer]")
    assert set(await page.evaluate(SHOWN)) == {"token"}
