"""Column types for text and JSON that come from watched servers.

Postgres text refuses NUL, psycopg refuses lone surrogates, and JSONB loses key order, duplicate keys and number
spelling. So server-supplied names are escaped text and server-derived JSON is ASCII text.
"""

from __future__ import annotations

import json
import re
from typing import Any

from sqlalchemy import Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

_UNSTORABLE = re.compile("[\x00\\\\\ud800-\udfff]")
_ESCAPED = re.compile(r"\\(?:\\|u([0-9a-f]{4}))")


def escape(text: str) -> str:
    r"""Spell NUL and lone surrogates as ``\uXXXX`` (and a backslash as two): every string is storable."""
    return _UNSTORABLE.sub(lambda m: "\\\\" if m[0] == "\\" else f"\\u{ord(m[0]):04x}", text)


def unescape(text: str) -> str:
    """Undo :func:`escape`."""
    return _ESCAPED.sub(lambda m: chr(int(m[1], 16)) if m[1] else "\\", text)


class EscapedText(TypeDecorator[str]):
    """Text from a watched server; round-trips every Python string, equality included."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """See SQLAlchemy."""
        return None if value is None else escape(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """See SQLAlchemy."""
        return None if value is None else unescape(value)


class JsonText(TypeDecorator[Any]):
    """A JSON value derived from server data, kept as ASCII text: round-trips NUL, surrogates and big integers.

    SQL NULL and JSON null are different things here: bind ``None`` for SQL NULL, :data:`JSON_NULL` for JSON null.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        """See SQLAlchemy."""
        if value is None:
            return None
        return json.dumps(None if value is JSON_NULL else value, ensure_ascii=True, allow_nan=False)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """See SQLAlchemy."""
        return None if value is None else json.loads(value)


class _JsonNull:
    def __repr__(self) -> str:
        return "JSON_NULL"


JSON_NULL = _JsonNull()
