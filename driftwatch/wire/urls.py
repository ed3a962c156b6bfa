"""Which URLs may be requested at all. Pure; whether the host's addresses may be reached is ``addresses``' question."""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache

import httpx2

from driftwatch.safe_text import safe_text
from driftwatch.wire.errors import BadTargetError, RedirectedError

MAX_URL_LENGTH = 2048
_DEFAULT_PORTS = {"http": 80, "https": 443}
_AUTHORITY = re.compile(r"[a-z][a-z0-9+.-]*://([^/?#]*)", re.IGNORECASE)
# A number in the last label makes resolvers read the host as an IPv4 address: 2130706433, 0x7f.1, 127.1.
_NUMERIC_LABEL = re.compile(r"(?:[0-9]+|0[xX][0-9a-fA-F]*)")
# Ports of other protocols that can be made to do harm by an HTTP request (WHATWG Fetch, "port blocking").
_BLOCKED_PORTS = frozenset(
    {0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109}
    | {110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530}
    | {531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045}
    | {4190, 5060, 5061, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080, 11211}
)


@lru_cache(maxsize=4096)
def checked_url(text: str) -> httpx2.URL:
    """The URL, parsed by the very parser that will send it; remembered, because polls ask the same ones for ever.

    Raises BadTargetError for anything but http(s) with a plain host: no user name, fragment, backslash, white space,
    IPv6 zone, number written as a host, or port of another protocol.
    """
    if len(text) > MAX_URL_LENGTH:
        raise BadTargetError(f"The URL is longer than {MAX_URL_LENGTH} characters.")
    if any(ord(c) <= 0x20 or ord(c) == 0x7F or c in "\\#" for c in text):
        raise BadTargetError("The URL contains white space, a control character, a backslash or a fragment.")
    try:
        url = httpx2.URL(text)
    except (httpx2.InvalidURL, ValueError) as error:
        raise BadTargetError(f"The URL cannot be parsed: {_shown(str(error))}") from None
    if url.scheme not in _DEFAULT_PORTS:
        raise BadTargetError(f"The scheme {_shown(url.scheme)!r} is neither http nor https.")
    authority = _AUTHORITY.match(text)
    if authority is None or "@" in authority[1] or url.userinfo:
        raise BadTargetError("The URL has a user name or no host; put credentials into headers.")
    _check_host(url.raw_host.decode("ascii"))
    if _port(url) in _BLOCKED_PORTS or not 0 < _port(url) < 65536:
        raise BadTargetError(f"Port {_port(url)} does not exist or belongs to another protocol.")
    return url


def _check_host(host: str) -> None:
    if not host or "%" in host:
        raise BadTargetError("The URL has no host, or one with an escape or an IPv6 zone.")
    if ":" in host:
        return
    last_label = host.rstrip(".").rpartition(".")[2]
    if not _NUMERIC_LABEL.fullmatch(last_label):
        return
    try:
        ipaddress.IPv4Address(host)
    except ValueError:
        raise BadTargetError(f"The host {_shown(host)!r} is a number in disguise; write a plain address.") from None


def origin(url: httpx2.URL) -> tuple[str, str, int]:
    """Scheme, host and port: what 'same origin' compares."""
    return url.scheme, url.host.lower(), _port(url)


def shown_origin(url: httpx2.URL) -> str:
    """The origin for messages: path and query may hold secrets."""
    return _shown(f"{url.scheme}://{url.netloc.decode('ascii', 'replace')}")


def redirect_target(url: httpx2.URL, status: int, location: str | None) -> httpx2.URL:
    """Where a redirect leads. Raises RedirectedError unless it is a 307 or 308 to the same origin."""
    if status not in (307, 308) or not location:
        raise RedirectedError(f"The server redirects with status {status}.", status=status)
    try:
        target = checked_url(str(url.join(location)))
    except (httpx2.InvalidURL, ValueError, BadTargetError):
        raise RedirectedError("The server redirects to an address that may not be requested.", status=status) from None
    if origin(target) != origin(url):
        raise RedirectedError(f"The server redirects to {shown_origin(target)}.", status=status)
    return target


def _port(url: httpx2.URL) -> int:
    return _DEFAULT_PORTS[url.scheme] if url.port is None else url.port


def _shown(text: str) -> str:
    return safe_text(text, keep_newlines=False)[:200]
