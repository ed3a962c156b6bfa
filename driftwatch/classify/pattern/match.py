"""Whether a string matches a pattern, answered by jsonschema-rs: the linear engine first, else limited backtracking."""

from __future__ import annotations

from functools import lru_cache

import jsonschema_rs

from driftwatch.classify.pattern.respell import respelled

_BACKTRACKS = 100_000


@lru_cache(maxsize=512)
def _validator(pattern: str) -> jsonschema_rs.Validator | None:
    engines = (jsonschema_rs.RegexOptions(), jsonschema_rs.FancyRegexOptions(backtrack_limit=_BACKTRACKS))
    for spelling in (pattern, respelled(pattern)):
        for engine in engines:
            try:
                return jsonschema_rs.Draft202012Validator({"pattern": spelling}, offline=True, pattern_options=engine)
            except ValueError:
                continue
    return None


def supported(pattern: str) -> bool:
    """Whether one of the engines compiles ``pattern``."""
    return _validator(pattern) is not None


def matches(pattern: str, text: str) -> bool:
    """Whether ``pattern`` is found in ``text`` (ECMA-262 search). False for a pattern the engine does not support."""
    validator = _validator(pattern)
    try:
        return validator is not None and validator.is_valid(text)
    except (ValueError, UnicodeError):
        return False
