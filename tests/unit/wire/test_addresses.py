import pytest

from driftwatch.wire.addresses import AddressPolicy, allowed, host_key

PUBLIC = [
    "8.8.8.8", "93.184.216.34", "1.1.1.1", "172.15.255.255", "172.32.0.1", "100.63.255.255", "100.128.0.1",
    "192.0.1.1", "198.17.255.255", "198.20.0.1", "223.255.255.255", "168.63.129.15",
    "2606:4700:4700::1111", "2001:4860:4860::8888", "2a00:1450:4001::1", "3ffe::1",
    "::ffff:8.8.8.8", "64:ff9b::808:808",
]  # fmt: skip
NOT_PUBLIC = [
    # IPv4: this host, private, shared, loopback, link-local, special-purpose, documentation, benchmark, multicast
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "100.100.100.200",
    "127.0.0.1", "127.255.255.254", "169.254.0.1", "169.254.169.254", "169.254.170.2", "172.16.0.1",
    "172.31.255.255", "192.0.0.1", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1",
    "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.250", "240.0.0.1",
    "255.255.255.255", "168.63.129.16",
    # IPv6: unspecified, loopback, unique local, link-local, site-local, multicast, discard, documentation
    "::", "::1", "fc00::1", "fd00::1", "fd00:ec2::254", "fd20:ce::254", "fe80::1", "fec0::1", "ff02::1", "100::1",
    "2001:db8::1", "3fff::1", "5f00::1",
    # IPv4 in IPv6 clothes: mapped, NAT64, local NAT64, 6to4, Teredo, compatible
    "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe", "64:ff9b:1::7f00:1", "2002:7f00:1::", "2002:a9fe:a9fe::", "2002:808:808::",
    "2001:0:7f00:1::", "::127.0.0.1", "::ffff:0:127.0.0.1",
    # no plain address at all
    "fe80::1%eth0", "2606:4700::1%1", "", "localhost", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "1.2.3.4/32",
]  # fmt: skip
METADATA = [
    "169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200", "168.63.129.16", "192.0.0.192",
    "fd00:ec2::254", "fd20:ce::254", "fe80::a9fe:a9fe", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a9fe:a9fe", "2002:a9fe:a9fe::", "::169.254.169.254", "0.0.0.0", "::", "224.0.0.1", "ff02::1",
]  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC)
def test_public_space_is_allowed(address):
    assert allowed(address)


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_everything_else_is_not(address):
    assert not allowed(address)


@pytest.mark.parametrize("address", METADATA)
def test_no_list_opens_metadata(address):
    everything = AddressPolicy(["0.0.0.0/0", "::/0", "metadata.internal"])
    assert not everything.allows(address)
    assert not everything.allows(address, host="metadata.internal")


@pytest.mark.parametrize(
    ("entry", "address"),
    [
        ("127.0.0.0/8", "127.0.0.1"),
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.0/8", "::ffff:127.0.0.1"),
        ("10.1.2.3/8", "10.200.0.1"),
        ("::1", "::1"),
        ("[::1]", "::1"),
        ("fd12::/16", "fd12::5"),
    ],
)
def test_listed_networks_are_allowed_and_no_more(entry, address):
    assert allowed(address, [entry])
    assert not allowed("192.168.0.1", [entry])
    assert not allowed("fd99::1", [entry])


def test_a_listed_host_admits_its_addresses_under_that_name_only():
    policy = AddressPolicy(["MCP.corp.example."])
    assert policy.allows("10.0.0.5", host="mcp.corp.example")
    assert policy.allows("10.0.0.5", host="mcp.CORP.example.")
    assert not policy.allows("10.0.0.5", host="evil.example")
    assert not policy.allows("10.0.0.5")


def test_host_key_ignores_case_brackets_and_the_root():
    assert host_key(" [::1] ") == "::1"
    assert host_key("Example.COM.") == "example.com"
