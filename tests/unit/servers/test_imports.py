from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.servers import imports
from driftwatch.servers.credential import Basic, Bearer, Credential
from driftwatch.servers.imports import ImportEntry, UnreadableImportError, parse_import
from driftwatch.servers.model import ServerSpec
from driftwatch.wire.grants import ClientSecret

URL = "https://mcp.example.com/mcp"


def parse(document: object) -> list[ImportEntry]:
    return parse_import(json.dumps(document).encode())


def problem_of(document: object) -> str:
    [entry] = parse(document)
    assert entry.spec is None
    assert entry.problem is not None
    return entry.problem


@pytest.mark.parametrize("key", ["mcpServers", "servers"])
def test_a_client_configuration(key: str) -> None:
    headers = {"Authorization": "Bearer x"}
    entries = parse({key: {"orders": {"type": "http", "url": URL, "headers": headers}, "bare": {"url": URL}}})
    assert entries == [
        ImportEntry("orders", ServerSpec(url=URL, name="orders", headers=headers)),
        ImportEntry("bare", ServerSpec(url=URL, name="bare")),
    ]


@pytest.mark.parametrize("key", ["serverUrl", "httpUrl"])
def test_other_clients_spell_url_differently(key: str) -> None:
    assert parse({"mcpServers": {"a": {key: URL}}})[0].spec == ServerSpec(url=URL, name="a")


def test_an_editors_settings_file() -> None:
    assert parse({"mcp": {"servers": {"a": {"url": URL}}}, "editor.fontSize": 12})[0].spec == ServerSpec(URL, "a")


@pytest.mark.parametrize(
    ("fields", "credential"),
    [
        ({"authorization_token": "t"}, Bearer("t")),
        ({"bearerToken": "Bearer t"}, Bearer("t")),
        ({"auth": "t"}, Bearer("t")),
        ({"credential": {"kind": "basic", "username": "mei", "password": "p"}}, Basic("mei", "p")),
        (
            {"credential": {"kind": "client-secret", "issuer": URL, "client_id": "us", "client_secret": "s",
                            "scopes": ["a"]}},
            ClientSecret(URL, "us", "s", ("a",)),
        ),
    ],
)  # fmt: skip
def test_entries_carry_credentials(fields: dict[str, object], credential: Credential) -> None:
    assert parse({"mcpServers": {"a": {"url": URL, **fields}}})[0].spec == ServerSpec(URL, "a", credential=credential)


def test_credentials_that_cannot_be_used_are_reported_without_their_secret() -> None:
    for fields in (
        {"auth": "oauth"},
        {"oauth": {"clientId": "a", "clientSecret": "s3cr3t"}},
        {"credential": {"kind": "what", "token": "s3cr3t"}},
        {"credential": {"kind": "bearer", "token": 7}},
        {"credential": {"kind": "basic", "username": "s3cr3t"}},
        {"credential": {"kind": "bearer", "token": "${s3cr3t}"}},
    ):
        problem = problem_of({"mcpServers": {"a": {"url": URL, **fields}}})
        assert "credential" in problem
        assert "s3cr3t" not in problem.replace("${s3cr3t}", "")


def test_stdio_entries_are_reported_and_do_not_stop_the_others() -> None:
    entries = parse({"mcpServers": {"local": {"command": "npx", "args": ["x"]}, "far": {"url": URL}}})
    assert "stdio" in (entries[0].problem or "")
    assert entries[1].spec == ServerSpec(url=URL, name="far")


def test_a_registry_entry_has_a_server_per_remote() -> None:
    document = {
        "name": "io.example/orders",
        "remotes": [
            {"type": "streamable-http", "url": URL},
            {"type": "sse", "url": URL + "/sse", "headers": [{"name": "X-Tenant", "value": "t1"}]},
        ],
    }
    assert [entry.spec for entry in parse(document)] == [
        ServerSpec(url=URL, name="io.example/orders"),
        ServerSpec(url=URL + "/sse", name="io.example/orders-2", headers={"X-Tenant": "t1"}),
    ]


def test_a_page_of_a_registry() -> None:
    remote = {"name": "a/b", "remotes": [{"url": URL}]}
    local = {"name": "c/d", "packages": [{"registryType": "npm"}]}
    entries = parse({"servers": [{"server": remote, "_meta": {}}, {"server": local}]})
    assert entries[0].spec == ServerSpec(url=URL, name="a/b")
    assert entries[1].problem == "has no remotes; only servers with a URL can be watched"


def test_a_required_header_without_a_value_is_a_job_for_a_person() -> None:
    header = {"name": "Authorization", "isRequired": True, "isSecret": True}
    assert "Authorization" in problem_of({"name": "a/b", "remotes": [{"url": URL, "headers": [header]}]})


@pytest.mark.parametrize(
    "item",
    [
        {"url": "https://${HOST}/mcp"},
        {"url": "https://{tenant}.example.com/mcp"},
        {"url": URL, "headers": {"Authorization": "Bearer ${input:token}"}},
        {"url": URL, "headers": {"Authorization": "Bearer <YOUR_TOKEN>"}},
    ],
)
def test_placeholders_are_not_sent_as_secrets(item: dict[str, object]) -> None:
    assert "placeholder" in problem_of({"mcpServers": {"a": item}})


def test_lines_with_comments_and_a_byte_order_mark() -> None:
    data = f"\ufeff# ours\n\n {URL} \r\nhttps://b.example.com/mcp".encode()
    assert [entry.spec for entry in parse_import(data)] == [ServerSpec(URL), ServerSpec("https://b.example.com/mcp")]


def test_a_json_list_of_urls_and_objects() -> None:
    entries = parse([URL, {"url": URL, "name": "named"}, 7, None, {}])
    assert [entry.spec for entry in entries[:2]] == [ServerSpec(URL), ServerSpec(URL, "named")]
    assert [entry.problem for entry in entries[2:]] == [
        "is neither a URL nor an object",
        "is neither a URL nor an object",
        "has no url",
    ]


@pytest.mark.parametrize(
    "item", [None, 3, [], {"url": 7}, {"url": URL, "headers": "x"}, {"url": URL, "headers": {"a": 1}}]
)
def test_wrong_shapes_are_problems_of_their_entry(item: object) -> None:
    assert problem_of({"mcpServers": {"a": item}})


def test_labels_are_safe_to_show() -> None:
    [entry] = parse({"mcpServers": {"a\u202e\x1b[31m\n": {"command": "x"}}})
    assert entry.label == r"a\u{202E}\u{1B}[31m\u{A}"


@pytest.mark.parametrize(
    "data",
    [b"", b"  \n# nothing\n", b"{}", b"[]", b"{", b"\xff\xfe\x00", b'{"mcpServers": {}}', b"[" * 100_000],
)
def test_files_of_no_use_are_refused_as_a_whole(data: bytes) -> None:
    if data == b"{}":
        assert parse_import(data)[0].problem == "has no url"
        return
    with pytest.raises(UnreadableImportError):
        parse_import(data)


def test_huge_files_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnreadableImportError, match="larger"):
        parse_import(b" " * (imports.MAX_BYTES + 1))
    with pytest.raises(UnreadableImportError, match="more than 2000"):
        parse_import("\n".join(f"https://h{n}.example.com" for n in range(2001)).encode())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["mcpServers", "servers", "mcp", "url", "headers", "remotes", "server", "name", "auth", "credential"]
            ),
            inner,
        )
    ),
    max_leaves=20,
)


@given(json_values)
def test_any_json_gives_entries_or_a_named_refusal(document: object) -> None:
    try:
        entries = parse(document)
    except UnreadableImportError:
        return
    assert all((entry.spec is None) != (entry.problem is None) for entry in entries)
