"""Which addresses may be connected to. Pure: an own table, because ``ipaddress.is_global`` lets dangerous ones pass."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def _networks(*texts: str) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(text) for text in texts)


# Cloud metadata and link-local space: no allow-list opens these. Multicast and "this host" are no endpoints at all.
_NEVER = _networks(
    "169.254.0.0/16",
    "168.63.129.16/32",
    "100.100.100.200/32",
    "192.0.0.192/32",
    "0.0.0.0/8",
    "224.0.0.0/4",
    "255.255.255.255/32",
    "::/128",
    "fe80::/10",
    "ff00::/8",
    "fd00:ec2::/32",
    "fd20:ce::254/128",
)
_IPV4_NOT_PUBLIC = _networks(
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "168.63.129.16/32",
)
_IPV6_PUBLIC = ipaddress.IPv6Network("2000::/3")
_IPV6_NOT_PUBLIC = _networks("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_LOCAL_NAT64 = ipaddress.IPv6Network("64:ff9b:1::/48")
_IPV4_COMPATIBLE = ipaddress.IPv6Network("::/96")


class AddressPolicy:
    """Public space, plus the private networks and hosts an operator listed. Metadata addresses never.

    ``allow_networks``: CIDRs, single addresses or host names (a name admits whatever it resolves to, metadata
    excepted).
    """

    def __init__(self, allow_networks: Iterable[str] = ()) -> None:
        networks: list[Network] = []
        hosts: set[str] = set()
        for entry in allow_networks:
            try:
                networks.append(ipaddress.ip_network(entry.strip("[]"), strict=False))
            except ValueError:
                hosts.add(host_key(entry))
        self._networks = tuple(networks)
        self._hosts = frozenset(hosts)

    def allows(self, address: str, *, host: str | None = None) -> bool:
        """True when this resolved address may be connected to, reached by the name ``host``.

        Anything that does not parse, or carries an IPv6 zone, is refused.
        """
        try:
            plain = _unwrapped(ipaddress.ip_address(address))
        except ValueError:
            return False
        if _zoned(plain) or any(_inside(form, _NEVER) for form in _forms(plain)):
            return False
        if _public(plain) or _inside(plain, self._networks):
            return True
        return host is not None and host_key(host) in self._hosts


def allowed(address: str, allow_networks: Iterable[str] = ()) -> bool:
    """True when ``address`` is public or inside a listed network; see AddressPolicy."""
    return AddressPolicy(allow_networks).allows(address)


def host_key(host: str) -> str:
    """A host name as it is compared: lower case, without brackets and the root's dot."""
    return host.strip().strip("[]").rstrip(".").lower()


def _zoned(address: Address) -> bool:
    return isinstance(address, ipaddress.IPv6Address) and address.scope_id is not None


def _inside(address: Address, networks: Iterable[Network]) -> bool:
    return any(address.version == network.version and address in network for network in networks)


def _public(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv4Address):
        return not _inside(address, _IPV4_NOT_PUBLIC)
    return address in _IPV6_PUBLIC and not _inside(address, _IPV6_NOT_PUBLIC)


def _unwrapped(address: Address) -> Address:
    """The IPv4 address that a mapped (::ffff:) or NAT64 (64:ff9b::) address really reaches."""
    if isinstance(address, ipaddress.IPv6Address) and address.scope_id is None:
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address in _NAT64:
            return _low_ipv4(address)
    return address


def _forms(address: Address) -> tuple[Address, ...]:
    """The address and the IPv4 one it carries in a tunnel's notation: an allow-list must not open metadata that way."""
    if isinstance(address, ipaddress.IPv4Address):
        return (address,)
    if address.sixtofour is not None:
        return (address, address.sixtofour)
    if address in _LOCAL_NAT64 or (address in _IPV4_COMPATIBLE and int(address) > 1):
        return (address, _low_ipv4(address))
    return (address,)


def _low_ipv4(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address:
    return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
