"""Schemathesis asks the API whatever its description allows, and much that it does not. Real app, real database.

It lives in an environment of its own: it pins another jsonschema-rs than driftwatch does.
"""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import closing
from pathlib import Path

import pytest
import uvicorn
from browser.world import Template

from driftwatch.web.app import create_app

pytestmark = pytest.mark.postgres

REPOSITORY = Path(__file__).parents[3]
PROGRAM = REPOSITORY / ".venvs" / "schemathesis" / "bin" / "st"
CONFIGURATION = Path(__file__).with_name("schemathesis.toml")
#: set it for the coverage phase too: five thousand more questions, some minutes
FULL = "SCHEMATHESIS_FULL"
#: it stops by itself long before; only a hang ends here
TIMEOUT_SECONDS = 1200


async def test_the_api_does_what_its_description_says(template: Template, tmp_path: Path) -> None:
    if not PROGRAM.exists():
        pytest.fail("schemathesis is not installed: make .venvs/schemathesis/.installed", pytrace=False)
    async with template.copy(tmp_path) as world:
        with closing(socket.create_server(("127.0.0.1", 0))) as listener:
            config = uvicorn.Config(create_app(world.services), log_config=None, lifespan="off", access_log=False)
            server = uvicorn.Server(config)
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            code, said = await _run(f"http://127.0.0.1:{listener.getsockname()[1]}", world.token, tmp_path)
            server.should_exit = True
            await serving
    assert code == 0, said


async def _run(url: str, token: str, folder: Path) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        str(PROGRAM),
        "--config-file",
        str(CONFIGURATION),
        "run",
        f"{url}/api/v1/openapi.json",
        *("--checks", "all"),
        *("--phases", "examples,coverage,fuzzing,stateful" if os.environ.get(FULL) else "examples,fuzzing,stateful"),
        cwd=folder,
        env={**os.environ, "API_TOKEN": token, "NO_COLOR": "1"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        said, _ = await asyncio.wait_for(process.communicate(), TIMEOUT_SECONDS)
    except TimeoutError:
        process.kill()
        said, _ = await process.communicate()
    return process.returncode or 0, said.decode(errors="replace")
