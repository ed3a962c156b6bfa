"""Bytes that cannot become a definition, each by name.

CaptureError
├── NotJsonError            not JSON as RFC 8259 has it (NaN and Infinity included)
├── LoneSurrogateError      a string with half a surrogate pair: no UTF-8 can spell it
├── NumberOutOfRangeError   a number that no client can hold: over 4 300 digits, or infinite as a double
└── TooDeepError            nested deeper than any reader is asked to follow
"""

from __future__ import annotations

from driftwatch.errors import CaptureError


class NotJsonError(CaptureError):
    """The bytes are not JSON; NaN and Infinity are not JSON either."""

    code = "bad-json"


class LoneSurrogateError(CaptureError):
    """A string holds an unpaired surrogate: validators crash on it and UTF-8 cannot carry it."""

    code = "lone-surrogate"


class NumberOutOfRangeError(CaptureError):
    """A number with more than 4 300 digits, or beyond what a double can hold: clients would read another value."""

    code = "number-out-of-range"


class TooDeepError(CaptureError):
    """The value is nested too deeply to be read safely."""

    code = "too-deep"
