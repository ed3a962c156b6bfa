"""Both ends of what we promise to work with are really tested."""

from __future__ import annotations

import os

import psycopg
import pytest

from driftwatch.db.migrate import OLDEST_POSTGRES
from tests.conftest import SERVER_VARIABLE, TestServer

pytestmark = pytest.mark.oldest_postgres

#: the major version of the embedded extra's programs
NEWEST = 18


def test_one_server_is_the_oldest_and_one_the_newest(
    postgres: TestServer, database_url: str, request: pytest.FixtureRequest
) -> None:
    with psycopg.connect(database_url) as connection:
        major = connection.info.server_version // 10_000
    if request.node.callspec.params["postgres"] == "oldest":
        assert major == OLDEST_POSTGRES
    elif SERVER_VARIABLE in os.environ:  # somebody wants another one tested
        assert major >= OLDEST_POSTGRES
    else:
        assert major == NEWEST
