"""Below HTTP: which connections are used, kept, refused, broken, and how TLS stays honest."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import logging
import ssl

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from integration.wire.hostile import HostileServer, serving, sse

from driftwatch.settings import Settings
from driftwatch.wire.addresses import AddressPolicy
from driftwatch.wire.client import WireClient
from driftwatch.wire.errors import WireError
from driftwatch.wire.facts import LATEST_MODERN, Era, EraFacts, Target
from driftwatch.wire.guard import GuardedBackend
from driftwatch.wire.pools import GuardedTransport, OriginPools
from driftwatch.wire.walk import walk

MODERN = EraFacts(Era.MODERN, LATEST_MODERN, None, {"tools": {}})
LIST = b'{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}'
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(LIST), LIST)


async def failure(client, url, **more) -> WireError:
    with pytest.raises(WireError) as caught:
        await walk(client, Target(url), MODERN, **more)
    return caught.value


@contextlib.asynccontextmanager
async def speaking(script):
    """A TCP server; ``script(reader, writer, number)`` plays one connection. Yields its URL."""
    numbers = iter(range(10_000))
    running = set()

    async def connected(reader, writer):
        running.add(asyncio.current_task())
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                await script(reader, writer, next(numbers))
        finally:
            writer.close()
            if asyncio.current_task().cancelling():
                writer.transport.abort()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    finally:
        server.close()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def read_request(reader):
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    return await reader.readexactly(length)


async def test_a_connection_is_kept_over_polls_and_a_fresh_one_is_really_new(client, hostile):
    played = hostile.play(lambda call: call.polite(nextCursor=None if call.params.get("cursor") else "2"))
    for fresh in (False, False, True, False, True):
        await walk(client, Target(played.url), MODERN, fresh_connection=fresh)
    kept, again, fresh, kept_still, other_fresh = (
        {call.connection for call in played.calls[start : start + 2]} for start in range(0, 10, 2)
    )
    assert kept == again == kept_still
    assert len(kept) == len(fresh) == len(other_fresh) == 1  # the pages of one walk share a connection
    assert len(kept | fresh | other_fresh) == 3


async def test_a_kept_connection_that_died_is_replaced_without_a_failed_poll(client):
    """The server closes while our next request is under way: nobody's fault, and no restart."""
    requests = []

    async def script(reader, writer, number):
        requests.append(number)
        await read_request(reader)
        writer.write(ANSWER)
        await writer.drain()
        await read_request(reader)  # and close without a word

    async with speaking(script) as url:
        for _ in range(3):
            assert (await walk(client, Target(url), MODERN)).pages == 1
    assert requests == [0, 1, 2]


async def test_a_port_where_nobody_listens_is_refused_and_restart_evidence(client):
    async with speaking(read_request) as url:
        pass
    error = await failure(client, url)
    assert (error.code, error.restart_kind, error.permanent) == ("refused", "refused", False)


@pytest.mark.parametrize(
    "bytes_sent",
    [
        b"",
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{",
        b"SSH-2.0-OpenSSH_9.9\r\n",
        b"HTTP/1.1 200 OK\r\nx: " + b"y" * 200_000,
        b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 50_000,
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    ],
)
async def test_broken_http_is_unreachable(client, bytes_sent):
    async def script(reader, writer, number):
        await read_request(reader)
        writer.write(bytes_sent)
        await writer.drain()

    async with speaking(script) as url:
        error = await failure(client, url)
    assert error.code == "unreachable"
    assert error.restart_kind is None


async def test_a_body_in_crumbs_ends(client):
    """One-byte chunks cost a thousand times their size to read."""

    async def script(reader, writer, number):
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"1\r\n \r\n" * 1000)
            await writer.drain()

    async with speaking(script) as url:
        assert (await failure(client, url, seconds=30)).code == "too-large"


async def test_endless_headers_end(client):
    async def script(reader, writer, number):
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            writer.write(b"x-more: " + b"y" * 1000 + b"\r\n")
            await writer.drain()

    async with speaking(script) as url:
        assert (await failure(client, url)).code == "unreachable"


async def test_a_server_that_accepts_and_says_nothing_times_out(client):
    async def script(reader, writer, number):
        await reader.read(-1)

    async with speaking(script) as url:
        assert (await failure(client, url, seconds=0.3)).code == "timeout"


async def test_a_header_that_cannot_be_sent_is_a_bad_target(client, hostile):
    played = hostile.play(lambda call: call.polite())
    for value in ("a\r\nx: injected", "a\nb", "ключ", "a\x00b"):
        with pytest.raises(WireError) as caught:
            await walk(client, Target(played.url, {"x-key": value}), MODERN)
        assert caught.value.code == "bad-target"
        assert value not in str(caught.value)
    assert played.calls == []


async def test_loopback_is_blocked_unless_it_is_listed(hostile, clock):
    played = hostile.play(lambda call: call.polite())
    port = played.url.rpartition(":")[2]
    async with WireClient(Settings(), clock) as client:
        for host in ("127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]"):
            error = await failure(client, f"http://{host}:{port}")
            assert error.code == "blocked-address", host
    assert played.calls == []


async def test_a_name_with_one_private_answer_is_blocked(hostile, clock):
    async def resolve(host, port):
        return ["93.184.216.34", "127.0.0.1"]

    async with WireClient(Settings(), clock, resolve=resolve) as client:
        assert (await failure(client, "http://rebind.example/mcp")).code == "blocked-address"
        assert (await failure(client, "http://rebind.example/mcp", fresh_connection=True)).code == "blocked-address"


async def test_proxies_of_the_environment_are_ignored(hostile, settings, clock, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    played = hostile.play(lambda call: call.polite())
    async with WireClient(settings, clock) as client:
        await walk(client, Target(played.url), MODERN)
    assert len(played.calls) == 1


async def test_urls_are_not_logged(hostile, settings, clock, caplog):
    logger = logging.getLogger("httpx2")
    before = logger.level
    logger.setLevel(logging.INFO)
    caplog.set_level(logging.INFO)
    played = hostile.play(lambda call: call.polite())
    try:
        async with WireClient(settings, clock) as client:
            await walk(client, Target(played.url + "?key=s3cret", {"authorization": "Bearer t0ken"}), MODERN)
    finally:
        logger.setLevel(before)
    assert len(played.calls) == 1
    assert not any("s3cret" in record.getMessage() for record in caplog.records)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A self-signed certificate for mcp.example: (path of certificate and key)."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "mcp.example")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("mcp.example")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    pem = serialization.Encoding.PEM
    path.write_bytes(
        certificate.public_bytes(pem)
        + key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return path


async def test_tls_verifies_the_name_of_the_url_on_the_vetted_address(certificate, settings, clock):
    async def resolve(host, port):
        return ["127.0.0.1"]

    hostile = HostileServer()
    played = hostile.play(lambda call: call.polite())
    with serving(hostile.app, ssl_certfile=str(certificate)) as origin:
        port = origin.rpartition(":")[2]
        trusting = ssl.create_default_context(cafile=str(certificate))
        async with WireClient(settings, clock, resolve=resolve, tls=trusting) as client:
            assert len((await walk(client, Target(f"https://mcp.example:{port}/m1"), MODERN)).tools) == 1
            error = await failure(client, f"https://evil.example:{port}/m1")
            assert error.code == "tls-failed"
            assert "evil.example" in error.message
        async with WireClient(settings, clock, resolve=resolve) as client:
            assert (await failure(client, f"https://mcp.example:{port}/m1")).code == "tls-failed"
            assert (await failure(client, f"http://mcp.example:{port}/m1")).code == "unreachable"
    assert len(played.calls) == 1


async def test_idle_origins_beyond_the_cap_are_closed(hostile):
    """One pool per origin, but not for ever."""
    others = [HostileServer() for _ in range(3)]
    with contextlib.ExitStack() as running:
        urls = []
        for server in others:
            server.origin = running.enter_context(serving(server.app))
            urls.append(server.play(lambda call: call.polite()).url)
        pools = OriginPools(GuardedBackend(AddressPolicy(["127.0.0.1"])), ssl.create_default_context(), max_origins=2)
        async with httpx2.AsyncClient(transport=GuardedTransport(pools)) as http:
            for url in (*urls, urls[0]):
                assert (await http.post(url, json={"id": 1, "method": "tools/list"})).status_code == 200
                assert len(pools) <= 2
            slow = others[1].play(lambda call: sse(b"{", 0.5, b"}"))
            async with http.stream("POST", slow.url, json={"id": 1}) as busy:
                for url in (urls[2], urls[0]):
                    await http.post(url, json={"id": 1, "method": "tools/list"})
                assert await busy.aread() == b"{}"  # a busy pool is not closed under its request
    assert len(pools) == 0
