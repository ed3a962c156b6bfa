import pytest

from driftwatch.wire.errors import BadTargetError, RedirectedError
from driftwatch.wire.urls import checked_url, origin, redirect_target, shown_origin

GOOD = [
    "https://mcp.example.com/mcp", "http://mcp.example.com", "https://mcp.example.com:8443/mcp?key=a@b",
    "http://127.0.0.1:8000/mcp", "http://[::1]:8000/mcp", "https://bücher.example/mcp", "HTTPS://EXAMPLE.com/",
    "https://example.com./mcp", "https://a_b.example/mcp", "https://1password.example/", "https://x/%5C?q=%23",
]  # fmt: skip
BAD = [
    "ftp://example.com/", "file:///etc/passwd", "gopher://example.com/", "ws://example.com/", "javascript:alert(1)",
    "//example.com/mcp", "example.com/mcp", "/mcp", "", "http:", "http://", "http:///mcp", "http:example.com/",
    "http://user@example.com/", "http://user:secret@example.com/", "http://@example.com/", "http://:@example.com/",
    "https://example.com\\@evil.example/", "https:\\\\example.com/", "https://example.com/#fragment",
    "https://example.com/a b", " https://example.com/", "https://example.com/\n", "https://exa\tmple.com/",
    "https://example.com/\x00", "http://2130706433/", "http://0x7f000001/", "http://0177.0.0.1/", "http://127.1/",
    "http://127.0.0.1./", "http://1.2.3.4.5/", "http://0/", "http://10.0x1/", "http://[fe80::1%25eth0]/",
    "http://h%2eexample/", "http://%31.0.0.1/", "http://[::1/", "http://[zz]/", "http://１２７.0.0.1/",
    "http://example.com:0/", "http://example.com:22/", "http://example.com:25/", "http://example.com:6379/",
    "http://example.com:11211/", "http://example.com:99999/", "http://example.com:-1/", "http://example.com:x/",
    "https://example.com/" + "a" * 2048,
]  # fmt: skip


@pytest.mark.parametrize("text", GOOD)
def test_good_urls_pass(text):
    assert checked_url(text).scheme in ("http", "https")


@pytest.mark.parametrize("text", BAD)
def test_bad_urls_are_refused_by_name(text):
    with pytest.raises(BadTargetError) as caught:
        checked_url(text)
    assert caught.value.code == "bad-target"
    assert "secret" not in str(caught.value)


def test_origin_knows_default_ports():
    assert origin(checked_url("https://Example.com/a")) == origin(checked_url("https://example.com:443/b"))
    assert origin(checked_url("http://example.com/")) != origin(checked_url("https://example.com/"))


def test_shown_origin_hides_path_and_query():
    assert shown_origin(checked_url("https://example.com:8443/secret?token=secret")) == "https://example.com:8443"


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("/mcp/", "https://example.com/mcp/"),
        ("other?x=1", "https://example.com/other?x=1"),
        ("https://EXAMPLE.com:443/x", "https://example.com/x"),
    ],
)
@pytest.mark.parametrize("status", [307, 308])
def test_same_origin_redirects_are_followed(status, location, expected):
    assert str(redirect_target(checked_url("https://example.com/mcp"), status, location)) == expected


@pytest.mark.parametrize(
    ("status", "location"),
    [
        (301, "/mcp/"),
        (302, "/mcp/"),
        (303, "/mcp/"),
        (304, None),
        (300, "/mcp/"),
        (307, None),
        (307, ""),
        (307, "http://example.com/mcp"),
        (307, "https://example.com:8443/mcp"),
        (307, "https://evil.example/mcp"),
        (308, "//evil.example/mcp"),
        (307, "https://user@example.com/"),
        (307, "\\\\evil.example/"),
        (307, "file:///etc/passwd"),
        (307, "http://169.254.169.254/"),
        (307, "https://[/"),
    ],
)
def test_other_redirects_are_not(status, location):
    with pytest.raises(RedirectedError) as caught:
        redirect_target(checked_url("https://example.com/mcp"), status, location)
    assert caught.value.status == status
