"""Fixtures of the acceptance tests; what they are made of is in harness.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from acceptance.harness import HERE, Deployment, Service, Slack


@pytest.fixture(scope="module")
def slack() -> Iterator[Slack]:
    """One fake Slack per module."""
    receiver = Slack()
    yield receiver
    receiver.close()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, slack: Slack) -> Iterator[Service]:
    """One driftwatch per module."""
    running = Service(tmp_path_factory.mktemp("service"), slack).start()
    yield running
    running.close()


@pytest.fixture
def deployment(tmp_path: Path) -> Iterator[Deployment]:
    """An address on which servers are deployed."""
    place = Deployment(tmp_path)
    yield place
    place.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder is an acceptance test."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.acceptance)
