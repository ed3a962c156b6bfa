import socket

import httpcore2
import pytest

from driftwatch.wire.errors import BlockedAddressError, RefusedError, UnreachableError
from driftwatch.wire.guard import AddressPolicy, GuardedBackend, causes, connect_failure, vet


def answers(*addresses):
    async def resolve(host, port):
        return addresses

    return resolve


async def test_all_answers_must_be_allowed():
    policy = AddressPolicy()
    assert await vet("h.example", 443, policy, answers("8.8.8.8", "1.1.1.1", "8.8.8.8")) == ("8.8.8.8", "1.1.1.1")
    for hidden in ("127.0.0.1", "64:ff9b::7f00:1", "fe80::1%eth0"):
        with pytest.raises(BlockedAddressError) as caught:
            await vet("h.example", 443, policy, answers("8.8.8.8", hidden))
        assert caught.value.permanent


async def test_names_without_an_address_are_unreachable():
    async def fails(host, port):
        raise socket.gaierror(socket.EAI_NONAME, "no such name")

    for resolve in (fails, answers()):
        with pytest.raises(UnreachableError):
            await vet("h.example", 443, AddressPolicy(), resolve)


async def test_a_name_that_cannot_be_encoded_is_unreachable():
    with pytest.raises(UnreachableError):
        await vet("a" * 70 + ".example", 443, AddressPolicy())


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "localhost", "::ffff:127.0.0.1"])
async def test_the_system_resolver_cannot_be_tricked_into_loopback(host):
    with pytest.raises((BlockedAddressError, UnreachableError)):
        await vet(host, 80, AddressPolicy())


async def test_every_connection_is_vetted_anew():
    """A name that is rebound after the first look-up gains nothing."""
    turns = iter([("8.8.8.8",), ("127.0.0.1",)])

    async def rebinding(host, port):
        return next(turns)

    backend = GuardedBackend(AddressPolicy(), rebinding)
    connected = []

    async def connect(address, port, seconds, local_address, options):
        connected.append(address)
        return httpcore2.AsyncMockStream([])

    backend._connect = connect
    await backend.connect_tcp("rebind.example", 80)
    with pytest.raises(BlockedAddressError):
        await backend.connect_tcp("rebind.example", 80)
    assert connected == ["8.8.8.8"]


async def test_the_next_vetted_address_is_tried():
    backend = GuardedBackend(AddressPolicy(), answers("8.8.8.8", "1.1.1.1"))
    tried = []

    async def connect(address, port, seconds, local_address, options):
        tried.append((address, seconds))
        if address == "8.8.8.8":
            raise httpcore2.ConnectTimeout
        return httpcore2.AsyncMockStream([])

    backend._connect = connect
    await backend.connect_tcp("h.example", 80)
    assert tried == [("8.8.8.8", 4.0), ("1.1.1.1", None)]


async def test_unix_sockets_do_not_exist():
    with pytest.raises(BlockedAddressError):
        await GuardedBackend(AddressPolicy()).connect_unix_socket("/run/docker.sock")


def test_a_refused_connection_is_told_apart_and_is_restart_evidence():
    outer = OSError("all attempts failed")
    outer.__cause__ = ExceptionGroup("attempts", [ConnectionRefusedError(111, "refused")])
    refused = connect_failure(outer, "h.example", 80)
    assert isinstance(refused, RefusedError)
    assert (refused.code, refused.restart_kind) == ("refused", "refused")
    other = connect_failure(OSError("no route"), "h.example", 80)
    assert (other.code, other.restart_kind) == ("unreachable", None)


def test_causes_ends_on_circles():
    first, second = ValueError(), ValueError()
    first.__context__, second.__context__ = second, first
    assert list(causes(first)) == [first, second]
