"""The formats TypeScript clients assert, as ajv-formats reads them; names that are not here refuse nothing.

Written from the RFCs and the measured behaviour. Only our own patterns run here, each linear in its text.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from driftwatch.classify.clients import uris
from driftwatch.classify.pattern.syntax import PatternError, check

_FLAGS: Final = re.IGNORECASE | re.ASCII
#: white space and line ends of ECMA-262
_SPACE: Final = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"

_DATE: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)", _FLAGS)
_TIME: Final = re.compile(r"(\d\d):(\d\d):(\d\d(?:\.\d+)?)(z|([+-])(\d\d)(?::?(\d\d))?)?", _FLAGS)
_BETWEEN: Final = re.compile(f"[t{_SPACE}]", re.IGNORECASE)
_DAYS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def date(text: str) -> bool:
    """RFC 3339 full-date."""
    found = _DATE.fullmatch(text)
    if found is None:
        return False
    year, month, day = (int(group) for group in found.groups())
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 1 <= month <= 12 and 1 <= day <= (29 if month == 2 and leap else _DAYS[month - 1])


def time(text: str, *, zone: bool = True) -> bool:
    """RFC 3339 full-time; ``zone`` False: the offset may be missing. A leap second only at the end of a UTC day."""
    found = _TIME.fullmatch(text)
    if found is None:
        return False
    hour, minute, second = int(found[1]), int(found[2]), float(found[3])
    offset_hours, offset_minutes = int(found[6] or 0), int(found[7] or 0)
    if offset_hours > 23 or offset_minutes > 59 or (zone and not found[4]):
        return False
    if hour <= 23 and minute <= 59 and second < 60:
        return True
    sign = -1 if found[5] == "-" else 1
    utc_minute = minute - offset_minutes * sign
    utc_hour = hour - offset_hours * sign - (utc_minute < 0)
    return utc_hour in (23, -1) and utc_minute in (59, -1) and second < 61


def date_time(text: str, *, zone: bool = True) -> bool:
    """RFC 3339 date-time; any one white space may stand for the T."""
    parts = _BETWEEN.split(text)
    return len(parts) == 2 and date(parts[0]) and time(parts[1], zone=zone)


def _of(pattern: str, flags: int = _FLAGS) -> Callable[[str], bool]:
    compiled = re.compile(pattern, flags)
    return lambda text: compiled.fullmatch(text) is not None


_label: Final = _of(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
_local: Final = _of(r"[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
_ipv4: Final = _of(r"(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)")
_base64: Final = _of(r"(?:[a-z0-9+/]{4})*(?:[a-z0-9+/]{2}==|[a-z0-9+/]{3}=)?")


def email(text: str) -> bool:
    """Dotted atoms, @, and a domain of at least two labels."""
    local, at, domain = text.partition("@")
    labels = domain.split(".")
    return bool(at) and _local(local) and len(labels) > 1 and all(map(_label, labels))


def hostname(text: str) -> bool:
    """At most 253 characters in labels of at most 63; one dot at the end is allowed."""
    name = text.removesuffix(".")
    return 0 < len(name) <= 253 and all(len(label) <= 63 and _label(label) for label in name.split("."))


def ipv6(text: str) -> bool:
    """RFC 4291, without a zone."""
    if "%" in text or "/" in text:
        return False
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def regex(text: str) -> bool:
    """A regular expression; read with the ``u`` flag here, where Ajv reads it without: a little stricter."""
    try:
        check(text)
    except PatternError:
        return False
    return True


def _byte(text: str) -> bool:
    """Base64; Ajv's pattern is multi-line, so one good line is enough."""
    return any(map(_base64, re.split("\r\n|[\n\r\u2028\u2029]", text)))


#: formats of strings
STRINGS: Final[Mapping[str, Callable[[str], bool]]] = {
    "date": date,
    "time": time,
    "date-time": date_time,
    "iso-time": lambda text: time(text, zone=False),
    "iso-date-time": lambda text: date_time(text, zone=False),
    "duration": _of(
        r"P(?!\Z)(?:(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?|(?:\d+W)?)", re.ASCII
    ),
    "uri": uris.uri,
    "uri-reference": uris.reference,
    "uri-template": uris.template,
    "url": uris.url,
    "email": email,
    "hostname": hostname,
    "ipv4": _ipv4,
    "ipv6": ipv6,
    "regex": regex,
    "uuid": _of(r"(?:urn:uuid:)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"),
    "json-pointer": _of(r"(?:/(?:[^~/]|~0|~1)*)*"),
    "json-pointer-uri-fragment": _of(r"#(?:/(?:[a-z0-9_\-.!$&'()*+,;:=@]|%[0-9a-f]{2}|~0|~1)*)*"),
    "relative-json-pointer": _of(r"(?:0|[1-9]\d*)(?:#|(?:/(?:[^~/]|~0|~1)*)*)"),
    "byte": _byte,
}
_NUMBER: Final = {"not": {"type": "number"}}
#: formats of numbers, as schemas
NUMBERS: Final[Mapping[str, dict[str, Any]]] = {
    "int32": {"anyOf": [_NUMBER, {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1}]},
    "int64": {"anyOf": [_NUMBER, {"type": "integer"}]},
}
