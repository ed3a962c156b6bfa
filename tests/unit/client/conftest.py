from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest


@pytest.fixture
def free_port() -> Iterator[int]:
    """A port where nobody listens while the test runs."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield int(held.getsockname()[1])
