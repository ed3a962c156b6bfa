"""A running driftwatch, and a real Chromium that looks at it."""

from __future__ import annotations

import asyncio
import shutil
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

import pytest
import uvicorn
from browser.world import World
from fastapi import FastAPI
from playwright.async_api import Browser, BrowserContext, Page, Request

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def executable() -> str:
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.fail("no Chromium found: install the Debian package chromium (apt-get install chromium)", pytrace=False)
    return found


@dataclass
class Visit:
    """A running application, a token for it, and everything a page complained about."""

    url: str
    token: str
    browser: Browser
    complaints: list[str] = field(default_factory=list)

    async def open(self, *, width: int = 1440, dark: bool = False, script: bool = True, signed_in: bool = True) -> Page:
        context = await self.browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            java_script_enabled=script,
            base_url=self.url,
        )
        context.set_default_timeout(120_000)
        page = await context.new_page()
        page.on("console", lambda message: self._heard(message.type, message.text))
        page.on("pageerror", lambda error: self.complaints.append(f"page error: {error}"))
        page.on("requestfailed", self._failed)
        if signed_in:
            await self._sign_in(context, page)
        return page

    def _failed(self, request: Request) -> None:
        # a page that is left takes along what it still waits for; what is refused or blocked fails in other words
        if request.failure != "net::ERR_ABORTED":
            self.complaints.append(f"not loaded: {request.url} ({request.failure})")

    async def _sign_in(self, context: BrowserContext, page: Page) -> None:
        await page.goto("/login")
        await page.get_by_label("Token").fill(self.token)
        await page.get_by_role("button", name="Sign in").click()
        await page.wait_for_url(f"{self.url}/")

    def _heard(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(f"{kind}: {text}")


@dataclass
class Site(Visit):
    """A visit to an application in this process, with the world that is in it."""

    world: World = field(kw_only=True)


class _Quiet(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def served(app: FastAPI) -> AsyncIterator[str]:
    """The application on a free port of loopback; answers its address."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen(64)
        server = _Quiet(uvicorn.Config(app, log_config=None, lifespan="off"))
        serving = asyncio.create_task(server.serve(sockets=[held]))
        yield f"http://127.0.0.1:{held.getsockname()[1]}"
        server.should_exit = True
        await serving
