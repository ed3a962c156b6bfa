"""URIs as ajv-formats reads them: RFC 3986 with a few liberties, each of them measured."""

from __future__ import annotations

import ipaddress
import re
from typing import Final

_FLAGS: Final = re.IGNORECASE | re.ASCII
_ESCAPED: Final = "%[0-9a-f]{2}"
_PLAIN: Final = r"a-z0-9\-._~!$&'()*+,;="
_LITERAL: Final = rf"\[(?P<v6>[0-9a-f:.]+)\]|\[v[0-9a-f]+\.[{_PLAIN}:]+\]"
_USER: Final = rf"(?:(?:[{_PLAIN}:]|{_ESCAPED})*@)?"


def _after_scheme(liberty: str) -> tuple[str, str]:
    """Authority and path; query and fragment. ``liberty``: a character beyond the RFC that is taken everywhere."""
    segment = f"(?:[{_PLAIN}{liberty}:@]|{_ESCAPED})"
    tail = f"(?:[{_PLAIN}{liberty}:@/?]|{_ESCAPED})*"
    authority = rf"/?/{_USER}(?:{_LITERAL}|(?:[{_PLAIN}{liberty}]|{_ESCAPED})*)(?::\d*)?(?:/{segment}*)*"
    path = f"/(?:{segment}+(?:/{segment}*)*)?|{segment}+(?:/{segment}*)*"
    return rf"(?:{authority}|{path})", rf"(?:\?{tail})?(?:\#{tail})?"


_URI: Final = re.compile(r"[a-z][a-z0-9+\-.]*:" + "".join(_after_scheme("")), _FLAGS)
_REFERENCE: Final = re.compile(r"(?:[a-z][a-z0-9+\-.]*:)?" + "?".join(_after_scheme('"')), _FLAGS)
_NAME: Final = rf"(?:[a-z0-9_]|{_ESCAPED})+(?::[1-9]\d{{0,3}}|\*)?"
_TEMPLATE: Final = re.compile(
    rf"""(?:[^\x00-\x20"'<>%\\^`{{|}}]|{_ESCAPED}|\{{[+#./;?&=,!@|]?{_NAME}(?:,{_NAME})*\}})*""", _FLAGS
)


def uri(text: str) -> bool:
    """An absolute URI with something after its scheme."""
    return ("/" in text or ":" in text) and _valid(_URI.fullmatch(text))


def reference(text: str) -> bool:
    """A URI or a relative reference; the empty string is one."""
    return _valid(_REFERENCE.fullmatch(text))


def _valid(found: re.Match[str] | None) -> bool:
    if found is None:
        return False
    literal = found["v6"]
    if literal is None:
        return True
    try:
        ipaddress.IPv6Address(literal)
    except ValueError:
        return False
    return True


def template(text: str) -> bool:
    """RFC 6570."""
    return _TEMPLATE.fullmatch(text) is not None


_SPACE: Final = re.compile("[\\s\ufeff]")
_URL: Final = re.compile(r"(?:https?|ftp)://(?P<rest>[^/]+)(?:/.*)?", re.IGNORECASE | re.DOTALL)
_PORT: Final = re.compile(r":\d{2,5}\Z", re.ASCII)
_DOMAIN: Final = re.compile(
    "(?:[a-z0-9\u00a1-\uffff]+(?:-[a-z0-9\u00a1-\uffff]+)*\\.)+[a-z\u00a1-\uffff]{2,}", re.IGNORECASE
)


def url(text: str) -> bool:
    """A public http, https or ftp address: a dotted name, or an IPv4 address outside the private ranges."""
    found = None if _SPACE.search(text) else _URL.fullmatch(text)
    if found is None:
        return False
    host = _PORT.sub("", found["rest"].rpartition("@")[2])
    return _DOMAIN.fullmatch(host) is not None or _public(host)


def _public(host: str) -> bool:
    octets = host.split(".")
    if len(octets) != 4 or not all(octet.isascii() and octet.isdecimal() and len(octet) <= 3 for octet in octets):
        return False
    first, second, *_, last = (int(octet) for octet in octets)
    if first in (10, 127) or (first, second) in {(169, 254), (192, 168)} or (first == 172 and 16 <= second <= 31):
        return False
    return 1 <= first <= 223 and second <= 255 and int(octets[2]) <= 255 and 1 <= last <= 254
