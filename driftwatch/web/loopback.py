"""Whether a host is this machine, and only this machine."""

from __future__ import annotations

import ipaddress
import socket

from driftwatch.errors import SettingsError


def is_loopback(host: str) -> bool:
    """True when every address that ``host`` stands for is this machine only. Raises SettingsError."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        raise SettingsError(f"cannot find {host}: {error.strerror}", hint="Check the name of the host.") from error
    return all(ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback for *_, address in found)
