import pytest

from driftwatch.wire.errors import BadResultError, RedirectedError
from driftwatch.wire.http_sse import endpoint_url

STREAM = "https://example.com/mcp/sse?key=1"


@pytest.mark.parametrize(
    ("data", "url"),
    [
        (b"/messages?sid=1", "https://example.com/messages?sid=1"),
        (b"messages", "https://example.com/mcp/messages"),
        (b" https://example.com:443/m ", "https://example.com/m"),
    ],
)
def test_the_endpoint_is_relative_to_the_stream(data, url):
    assert endpoint_url(STREAM, data) == url


@pytest.mark.parametrize(
    "data", [b"http://example.com/m", b"https://evil.example/m", b"//evil.example/m", b"https://example.com:8443/"]
)
def test_another_origin_never_gets_our_credentials(data):
    with pytest.raises(RedirectedError):
        endpoint_url(STREAM, data)


@pytest.mark.parametrize("data", [b"\\\\evil.example\\m", b"\xff", b"file:///etc/passwd", b"https://u@example.com/"])
def test_an_endpoint_that_may_not_be_requested_is_refused(data):
    with pytest.raises(BadResultError):
        endpoint_url(STREAM, data)
