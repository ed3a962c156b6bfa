import json

import pytest

from driftwatch.wire.errors import BadResultError, UnsupportedVersionError
from driftwatch.wire.facts import Era, Session, Transport
from driftwatch.wire.session import facts_of, initialize_params
from driftwatch.wire.streamable import Answer


def answer(session_id=None, **fields):
    return Answer(200, result=json.dumps(fields).encode(), session_id=session_id)


def test_an_initialize_result_becomes_facts():
    facts = facts_of(
        answer(
            "s-1",
            protocolVersion="2025-06-18",
            capabilities={"tools": {"listChanged": False}},
            serverInfo={"name": "s"},
            instructions="\ud800 be kind",
        ),
        Transport.STREAMABLE_HTTP,
    )
    assert facts.era is Era.LEGACY
    assert facts.session == Session("s-1", "2025-06-18")
    assert facts.tools_declared
    assert not facts.list_changed_declared
    assert facts.instructions == "\ud800 be kind"


def test_no_id_or_an_empty_one_is_a_stateless_server():
    for name in (None, ""):
        assert facts_of(answer(name, protocolVersion="2025-11-25"), Transport.STREAMABLE_HTTP).session.id is None


@pytest.mark.parametrize("name", ["a b", "é", "a\r\nb", "x" * 1025, "\x7f"])
def test_a_session_id_that_cannot_be_sent_back_is_refused(name):
    with pytest.raises(BadResultError):
        facts_of(answer(name, protocolVersion="2025-11-25"), Transport.STREAMABLE_HTTP)


@pytest.mark.parametrize("version", ["2026-07-28", "2030-01-01", "draft", ""])
def test_a_version_no_client_knows_is_refused(version):
    with pytest.raises(UnsupportedVersionError):
        facts_of(answer(protocolVersion=version), Transport.STREAMABLE_HTTP)


@pytest.mark.parametrize("result", [b"{}", b"[]", b"null", b'{"protocolVersion":1}'])
def test_a_result_without_a_version_is_refused(result):
    with pytest.raises(BadResultError):
        facts_of(Answer(200, result=result), Transport.STREAMABLE_HTTP)


def test_the_session_never_shows_its_id():
    assert "s-1" not in repr(Session("s-1", "2025-11-25"))


def test_we_declare_no_capabilities():
    assert initialize_params()["capabilities"] == {}
