"""The pages of one tools/list walk, put together. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from driftwatch.wire import messages
from driftwatch.wire.errors import (
    BadJsonError,
    BadResultError,
    IncompleteWalkError,
    RepeatedCursorError,
    TooManyPagesError,
    TooManyToolsError,
)

SERVER_INFO: Final = "io.modelcontextprotocol/serverInfo"
_NULL: Final = (b"", b"null")
_WHOLE: Final = re.compile(rb"[0-9]+(?:\.0+)?")


class _ListResult(msgspec.Struct, rename="camel"):
    tools: msgspec.Raw = msgspec.Raw()
    next_cursor: msgspec.Raw = msgspec.Raw()
    ttl_ms: msgspec.Raw = msgspec.Raw()
    cache_scope: msgspec.Raw = msgspec.Raw()
    result_type: msgspec.Raw = msgspec.Raw()
    meta: msgspec.Raw = msgspec.field(default=msgspec.Raw(), name="_meta")


class Pages:
    """Takes result objects in order; says which cursor to ask for next.

    ``ttl_ms`` and ``cache_scope`` are the most cautious of all pages (None before the first page that states one).
    ``server_info`` is what the first page's ``_meta`` says; ``results`` are the pages, verbatim. ``flaws``: modern
    fields that are missing or wrong.
    """

    def __init__(self, max_pages: int, max_tools: int) -> None:
        self._max_pages = max_pages
        self._max_tools = max_tools
        self._cursors: set[str] = set()
        self._sha256 = hashlib.sha256()
        self.tools: list[bytes] = []
        self.results: list[bytes] = []
        self.count = 0
        self.ttl_ms: int | None = None
        self.cache_scope: str | None = None
        self.server_info: Mapping[str, Any] | None = None
        self.flaws: set[str] = set()

    @property
    def sha256(self) -> bytes:
        """sha256 over the result objects, verbatim and in order."""
        return self._sha256.digest()

    def take(self, result: bytes) -> str | None:
        """Add a page; the answer is the next cursor (which may be ``""``), or None at the end of the list.

        Raises BadResultError, IncompleteWalkError, RepeatedCursorError, TooManyPagesError, TooManyToolsError.
        """
        page = messages.split(result, _ListResult)
        self._check_complete(page)
        self.tools += _entries(page.tools)
        if len(self.tools) > self._max_tools:
            raise TooManyToolsError(f"The list has more than {self._max_tools} tools.")
        self._sha256.update(result)
        self.results.append(result)
        self._read_cache_hints(page)
        if self.count == 0:
            self.server_info = _server_info(page.meta)
        self.count += 1
        return self._next(page.next_cursor)

    def _next(self, raw: msgspec.Raw) -> str | None:
        if bytes(raw) in _NULL:
            return None
        cursor = messages.value(raw)
        if not isinstance(cursor, str):
            raise BadResultError("nextCursor is not a string.")
        if cursor in self._cursors:
            raise RepeatedCursorError(f"The cursor {messages.shown(cursor)!r} came twice.")
        self._cursors.add(cursor)
        if self.count >= self._max_pages:
            raise TooManyPagesError(f"The list has more than {self._max_pages} pages.")
        return cursor

    def _read_cache_hints(self, page: _ListResult) -> None:
        self.flaws.update(_flaws(page))
        if bytes(page.ttl_ms):
            ttl = _int_or_zero(page.ttl_ms)
            self.ttl_ms = ttl if self.ttl_ms is None else min(self.ttl_ms, ttl)
        if bytes(page.cache_scope):
            public = bytes(page.cache_scope) == b'"public"' and self.cache_scope != "private"
            self.cache_scope = "public" if public else "private"

    def _check_complete(self, page: _ListResult) -> None:
        if bytes(page.result_type) not in (*_NULL, b'"complete"'):
            kind = messages.shown(str(messages.value(page.result_type)))
            raise IncompleteWalkError(f"The server answered tools/list with a result of type {kind!r}.")


def _entries(tools: msgspec.Raw) -> list[bytes]:
    if not bytes(tools):
        raise BadResultError("The result has no 'tools'.")
    try:
        return messages.split_array(tools)
    except BadResultError:
        raise BadResultError("'tools' is not an array.") from None


def _int_or_zero(raw: msgspec.Raw) -> int:
    """A whole number of milliseconds; anything else, and less than 0, means 0 (RFC 9111 treats bad ages so too)."""
    number = messages.value(raw)
    return int(number) if isinstance(number, int | float) and 0 <= number < 2**53 else 0


def _flaws(page: _ListResult) -> Iterator[str]:
    """What the modern era demands of a result beside its tools, and this one does not have."""
    said = {"resultType": page.result_type, "ttlMs": page.ttl_ms, "cacheScope": page.cache_scope}
    yield from (f"no {name}" for name, raw in said.items() if not bytes(raw))
    if bytes(page.ttl_ms) and not _WHOLE.fullmatch(bytes(page.ttl_ms)):
        yield "a ttlMs that is no count of milliseconds"
    if bytes(page.cache_scope) and bytes(page.cache_scope) not in (b'"public"', b'"private"'):
        yield "a cacheScope that is neither public nor private"


def _server_info(meta: msgspec.Raw) -> Mapping[str, Any] | None:
    if not bytes(meta):
        return None
    try:
        fields = messages.value(meta)
    except BadJsonError:
        return None
    info = fields.get(SERVER_INFO) if isinstance(fields, dict) else None
    return info if isinstance(info, dict) else None
