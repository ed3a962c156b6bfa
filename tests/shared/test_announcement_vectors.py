"""The announcement vectors beside the repository; not collected where they do not exist (conftest.py)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from driftwatch.announcement.evidence import Constants, Evidence, Stream
from driftwatch.announcement.judge import judge

SHARED = Path(os.environ.get("DRIFTWATCH_SHARED", Path(__file__).parents[2].parent / "shared"))
VECTORS = SHARED / "vectors" / "announcement.json"


def _vectors() -> tuple[Constants, list[dict[str, Any]]]:
    document = json.loads(VECTORS.read_text())
    return Constants(**document["constants_s"]), document["vectors"]


@pytest.mark.parametrize("vector", _vectors()[1], ids=lambda vector: vector["name"])
def test_vector(vector: dict[str, Any]) -> None:
    constants, _ = _vectors()
    found = judge(
        Evidence(
            window=tuple(vector["window"]),
            now=vector["now"],
            declared=vector["declared"],
            listening=vector["listening"],
            streams=tuple(Stream(**stream) for stream in vector["streams"]),
            notifications=tuple(vector["notifications"]),
            restarts=tuple(vector["restarts"]),
        ),
        constants,
    )
    assert {"announcement": found.announcement, "reason": found.reason, "fact": found.fact} == vector["expect"]
