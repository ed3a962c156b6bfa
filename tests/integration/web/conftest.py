"""The whole web application in this process, on a seeded database, and a signed-in browser without a browser."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path

import httpx2
import pytest
from browser.world import Template, World

from driftwatch.app import Services
from driftwatch.web.app import create_app

ORIGIN = "http://driftwatch.test"


class Visitor:
    """Follows redirects, keeps cookies, and fills a form's hidden fields as a browser would."""

    def __init__(self, client: httpx2.AsyncClient, world: World) -> None:
        self.client = client
        self.world = world

    async def sign_in(self) -> None:
        answer = await self.client.post("/login", data={"token": self.world.token, "next": "/"})
        assert answer.status_code == 303

    async def get(self, path: str, status: int = 200) -> str:
        answer = await self.client.get(path, follow_redirects=True)
        assert answer.status_code == status, answer.text
        return answer.text

    async def csrf(self) -> str:
        found = re.search(r'name="csrf" value="([^"]+)"', await self.get("/changelog"))
        assert found
        return unescape(found[1])

    async def post(self, path: str, data: dict[str, object], *, status: int = 200) -> str:
        data = {"csrf": await self.csrf(), **data}
        answer = await self.client.post(path, data=data, follow_redirects=True, headers={"origin": ORIGIN})
        assert answer.status_code == status, answer.text
        return answer.text


@pytest.fixture
async def stranger(services: Services) -> AsyncIterator[httpx2.AsyncClient]:
    """A client without a session, on an empty database."""
    transport = httpx2.ASGITransport(app=create_app(services))
    async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as client:
        yield client


@pytest.fixture
async def visitor(template: Template, tmp_path: Path) -> AsyncIterator[Visitor]:
    """A signed-in admin in the seeded world."""
    async with template.copy(tmp_path) as world:
        transport = httpx2.ASGITransport(app=create_app(world.services))
        async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as client:
            found = Visitor(client, world)
            await found.sign_in()
            yield found
