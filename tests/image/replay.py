"""Follows a Dockerfile in a plain folder: the same commands, no container engine. Instructions it does not know fail.

The base image's Python is a virtual environment of this machine's. Paths are kept apart by the build argument PREFIX,
which the Dockerfile's RUN commands use: a build with another PREFIX is a build as well.

    python tests/image/replay.py FOLDER
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def instructions(dockerfile: str) -> Iterator[tuple[str, str]]:
    """(name, arguments) of each instruction, continued lines joined and comments left out."""
    lines = [line for line in dockerfile.splitlines() if not line.lstrip().startswith("#")]
    for line in re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines():
        if line.strip():
            name, _, rest = line.strip().partition(" ")
            yield name.upper(), rest.strip()


@dataclass
class Image:
    """What the last stage says of the container to start."""

    env: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    ports: list[int] = field(default_factory=list)
    user: str = "0:0"
    entrypoint: list[str] = field(default_factory=list)
    cmd: list[str] = field(default_factory=list)
    healthcheck: list[str] = field(default_factory=list)


class Replay:
    """One build of the Dockerfile into ``folder``; ``image`` is what comes out, ``prefix`` where its files are."""

    def __init__(self, folder: Path, repository: Path = REPOSITORY) -> None:
        self.image = Image()
        self.prefix = folder / "opt" / "driftwatch"
        self._folder = folder
        self._repository = repository
        self._given = {"PREFIX": str(self.prefix)}
        self._outer: dict[str, str] = {}
        self._variables: dict[str, str] = {}
        self._stages = 0
        self._here = folder

    def build(self) -> Image:
        """Follow every instruction."""
        for name, rest in instructions((self._repository / "Dockerfile").read_text()):
            getattr(self, f"_{name.lower()}")(rest)
        return self.image

    @property
    def base(self) -> Path:
        """The folder with the programs of this stage's base image."""
        return self._folder / f"stage-{self._stages}" / "usr" / "local" / "bin"

    def _expand(self, words: str) -> str:
        return re.sub(r"\$\{(\w+)\}", lambda found: self._variables[found[1]], words)

    def _words(self, rest: str) -> list[str]:
        return [self._expand(word) for word in shlex.split(rest)]

    def _pairs(self, rest: str) -> dict[str, str]:
        return dict(word.split("=", 1) for word in self._words(rest))

    def _arg(self, rest: str) -> None:
        name, _, default = rest.partition("=")
        (self._variables if self._stages else self._outer)[name] = self._given.get(name, default)

    def _from(self, rest: str) -> None:
        self._stages += 1
        self.image = Image()
        self._here = self.base.parents[2]
        subprocess.run([sys.executable, "-m", "venv", self.base.parent], check=True)
        self._variables = {"PATH": os.pathsep.join([str(self.base), os.environ["PATH"]])}

    def _workdir(self, rest: str) -> None:
        self._here = self.base.parents[2] / rest.lstrip("/")
        self._here.mkdir(parents=True)

    def _copy(self, rest: str) -> None:
        words = self._words(rest)
        if words[0].startswith("--from="):
            assert words[1] == words[2] == str(self.prefix), "what one stage copies from another stays at its place"
            return
        *sources, target = words
        for source in sources:
            place = self._here / target
            if (self._repository / source).is_dir():
                shutil.copytree(
                    self._repository / source, place, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True
                )
            else:
                shutil.copy(self._repository / source, place)

    def _run(self, rest: str) -> None:
        environment = {"PREFIX": str(self.prefix), "HOME": str(self._folder)} | self._variables
        kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        done = subprocess.run(
            ["/bin/sh", "-c", rest], cwd=self._here, env=kept | environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"RUN {rest}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"

    def _env(self, rest: str) -> None:
        self.image.env |= self._pairs(rest)
        self._variables |= self.image.env

    def _label(self, rest: str) -> None:
        self.image.labels |= self._pairs(rest)

    def _user(self, rest: str) -> None:
        self.image.user = rest

    def _expose(self, rest: str) -> None:
        self.image.ports += [int(port) for port in rest.split()]

    def _healthcheck(self, rest: str) -> None:
        self.image.healthcheck = json.loads(rest.partition("CMD ")[2])

    def _entrypoint(self, rest: str) -> None:
        self.image.entrypoint = json.loads(rest)

    def _cmd(self, rest: str) -> None:
        self.image.cmd = json.loads(rest)


if __name__ == "__main__":
    built = Replay(Path(sys.argv[1]).resolve())
    print(f"{built.build().entrypoint} with what is in {built.prefix}")
