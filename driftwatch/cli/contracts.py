"""What ``driftwatch diff`` is given: a schema, a tool or a tool list, from a file, standard input or a live server."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from driftwatch.capture import snapshot
from driftwatch.classify.contract import Contract, read
from driftwatch.errors import InputError
from driftwatch.settings import Settings
from driftwatch.wire.facts import Era, Target

MAX_FILE_BYTES: Final = 64 * 1024 * 1024


class _Clock:
    """The process's clock: nothing here is stored or compared with a database."""

    def now(self) -> datetime:
        return datetime.now(UTC)


async def load(source: str, settings: Settings, era: Era | None) -> Contract:
    """The contract at ``source``: an ``http(s)://`` URL of an MCP server, a file, or ``-`` for standard input.

    Raises InputError for what cannot be read, CaptureError for a schema that is not JSON, WireError for a server.
    """
    if is_url(source):
        return await _from_server(source, settings, era)
    return read(_bytes(source), source, era or Era.MODERN)


def is_url(source: str) -> bool:
    """True when ``source`` names a live server."""
    return source.startswith(("http://", "https://"))


def _bytes(source: str) -> bytes:
    if source == "-":
        return sys.stdin.buffer.read(MAX_FILE_BYTES)
    path = Path(source)
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InputError(f"{source} is larger than {MAX_FILE_BYTES // 1024 // 1024} MiB", hint="Split it by tool.")
        return path.read_bytes()
    except OSError as error:
        hint = "Give a file, - for standard input, or an http(s) URL of an MCP server."
        raise InputError(f"{source} cannot be read: {error.strerror}", hint=hint) from error


async def _from_server(url: str, settings: Settings, era: Era | None) -> Contract:
    from driftwatch.wire.client import WireClient
    from driftwatch.wire.eras import detect
    from driftwatch.wire.session import close_session
    from driftwatch.wire.walk import walk

    target = Target(url)
    async with WireClient(settings, _Clock()) as client:
        detection = await detect(client, target, None if era is None else frozenset({era}))
        if detection.failure is not None:
            raise detection.failure
        # What today's clients see first: the modern era where it is spoken.
        facts = detection.found.get(Era.MODERN) or detection.found[Era.LEGACY]
        sessions = [found.session for found in detection.found.values()]
        try:
            listing = await walk(client, target, facts)
            sessions.append(listing.session)
        finally:
            for session in {session for session in sessions if session is not None}:
                await close_session(client, target, session)
    return Contract(facts.era, tools=snapshot.take(listing.tools, era=facts.era).tools)
