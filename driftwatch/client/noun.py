"""What all nouns of the API have."""

from __future__ import annotations

from driftwatch.client.connection import Connection


class Noun:
    """Some operations of the API over one connection."""

    def __init__(self, api: Connection) -> None:
        self._api = api
