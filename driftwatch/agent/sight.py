"""What the agent needs of a server, whatever carries the messages: look, and say what was heard."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from driftwatch.agent.report import Evidence
from driftwatch.errors import WireError
from driftwatch.wire.facts import Era, Listing


class Sight(Protocol):
    """A server in one era, for as long as one session with it lasts."""

    @property
    def heard(self) -> asyncio.Event:
        """Set by a list_changed; cleared when the evidence is taken."""

    @property
    def ended(self) -> asyncio.Event:
        """Set when the server ended the session."""

    async def walk(self, *, fresh: bool) -> tuple[Listing, bool]:
        """A complete list, and whether it came by no connection of the look before. Raises WireError."""

    def evidence(self) -> Evidence:
        """What was heard since this was asked last."""

    def last_words(self, error: WireError | None) -> Evidence:
        """The same when the session is over, by an error of the server's or by us."""


Opener = Callable[[Era], AbstractAsyncContextManager[Sight]]
"""Opens a session in an era. Raises WireError, EraNotSpokenError where the server does not speak it."""
