"""compose.yaml is what the Compose specification allows, and confines the service as the chart does."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from compose_spec import PyCompose
from image.replay import REPOSITORY, instructions

import driftwatch
from driftwatch.settings import Settings

TEXT = (REPOSITORY / "compose.yaml").read_text()
DOCUMENT: dict[str, Any] = yaml.safe_load(TEXT)
SERVICE: dict[str, Any] = DOCUMENT["services"]["driftwatch"]


def test_it_follows_the_specification() -> None:
    assert set(PyCompose.from_yaml(TEXT).service_names()) == {"postgres", "driftwatch"}
    with pytest.raises(Exception, match="nonsense"):
        PyCompose.from_yaml(TEXT.replace("read_only:", "nonsense:"))


def test_every_variable_is_a_setting() -> None:
    known = {f"DRIFTWATCH_{name.upper()}" for name in Settings.model_fields}
    assert set(SERVICE["environment"]) <= known
    assert {"DRIFTWATCH_DATABASE_URL", "DRIFTWATCH_SECRET_KEY", "DRIFTWATCH_ADMIN_TOKEN"} <= set(SERVICE["environment"])


def test_no_secret_has_a_default() -> None:
    asked = dict(re.findall(r"\$\{(\w+):([?-])", TEXT))
    assert asked["POSTGRES_PASSWORD"] == asked["DRIFTWATCH_SECRET_KEY"] == asked["DRIFTWATCH_ADMIN_TOKEN"] == "?"


def test_nothing_is_open_beyond_this_host_and_nothing_can_be_written() -> None:
    assert all(port.startswith("127.0.0.1:") for port in SERVICE["ports"])
    exposed = next(rest for name, rest in instructions((REPOSITORY / "Dockerfile").read_text()) if name == "EXPOSE")
    assert [port.rpartition(":")[2] for port in SERVICE["ports"]] == exposed.split()
    assert SERVICE["read_only"] is True
    assert SERVICE["cap_drop"] == ["ALL"]
    assert SERVICE["security_opt"] == ["no-new-privileges:true"]
    assert "ports" not in DOCUMENT["services"]["postgres"]


def test_it_runs_the_version_it_comes_with() -> None:
    assert SERVICE["image"] == f"driftwatch:{driftwatch.__version__}"
    arguments = dict(rest.split("=", 1) for name, rest in instructions((REPOSITORY / "Dockerfile").read_text())
                     if name == "ARG" and "=" in rest)  # fmt: skip
    assert arguments["VERSION"] == driftwatch.__version__
