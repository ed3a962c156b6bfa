"""A seeded history, served, and a Chromium to look at it with."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser.site import FLAGS, Site, executable, served
from browser.world import Template, seeded
from playwright.async_api import async_playwright, expect

from driftwatch.web.app import create_app

# A busy machine may be slow; waiting costs nothing when all is well.
expect.set_options(timeout=120_000)


@pytest.fixture(scope="session")
def template(postgres_server: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Template]:
    """A database with ten servers in every state, seeded once and copied for each test."""
    with seeded(postgres_server, tmp_path_factory.mktemp("seed")) as found:
        yield found


@pytest.fixture
async def site(template: Template, tmp_path: Path) -> AsyncIterator[Site]:
    """Serve the pages on loopback and drive the system's Chromium."""
    path = executable()
    async with (
        template.copy(tmp_path) as world,
        served(create_app(world.services)) as url,
        async_playwright() as driver,
    ):
        browser = await driver.chromium.launch(executable_path=path, headless=True, args=FLAGS)
        yield Site(url, world.token, browser, world=world)
        await browser.close()
