"""The chart as a cluster would get it, for three sets of values."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

HERE = Path(__file__).parent
VALUES = {name: yaml.safe_load((HERE / f"values-{name}.yaml").read_text()) or {} for name in ("minimal", "full")}
VALUES["default"] = {}


@dataclass(frozen=True)
class Rendered:
    """Every object the chart makes; ``notes`` is what the person who installs it reads."""

    objects: tuple[dict[str, Any], ...]
    notes: str
    lint: tuple[str, ...]

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [found for found in self.objects if found["kind"] == kind]

    def named(self, kind: str, name: str) -> dict[str, Any]:
        (found,) = [one for one in self.of(kind) if one["metadata"]["name"] == name]
        return found

    def pods(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """(name, specification) of every pod: of the roles, the migrations and the test."""
        for found in self.objects:
            if found["kind"] in ("Deployment", "Job"):
                yield found["metadata"]["name"], found["spec"]["template"]["spec"]
            if found["kind"] == "Pod":
                yield found["metadata"]["name"], found["spec"]


class RefusedError(Exception):
    """Helm does not take these values."""


@cache
def _render(values: str) -> Rendered:
    command = [sys.executable, str(HERE / "render.py")]
    answer = json.loads(subprocess.run(command, input=values, capture_output=True, text=True, check=True).stdout)
    if answer["error"]:
        raise RefusedError(answer["error"])
    manifests: dict[str, str] = answer["manifests"]
    notes = manifests.pop("driftwatch/templates/NOTES.txt")
    objects = [one for text in manifests.values() for one in yaml.safe_load_all(text) if one]
    return Rendered(tuple(objects), notes, tuple(answer["lint"]))


@pytest.fixture
def render() -> Callable[[dict[str, Any]], Rendered]:
    """Render the chart with values; raises RefusedError when the schema refuses them."""
    return lambda values: _render(json.dumps(values, sort_keys=True))


@pytest.fixture(params=sorted(VALUES))
def rendered(request: pytest.FixtureRequest, render: Callable[[dict[str, Any]], Rendered]) -> Rendered:
    return render(VALUES[request.param])


@pytest.fixture
def full(render: Callable[[dict[str, Any]], Rendered]) -> Rendered:
    return render(VALUES["full"])
