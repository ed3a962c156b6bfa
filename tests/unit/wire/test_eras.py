import json

import pytest

from driftwatch.wire.eras import Detection, modern_facts, mutual_version
from driftwatch.wire.errors import (
    EndpointNotFoundError,
    EraNotSpokenError,
    NotMcpError,
    ServerError,
    UnauthorizedError,
    UnsupportedVersionError,
)
from driftwatch.wire.facts import LATEST_MODERN, Era
from driftwatch.wire.messages import RpcFailure
from driftwatch.wire.streamable import Answer


def result(**fields):
    return Answer(200, result=json.dumps(fields).encode())


def failed(code, data=None, status=400):
    return Answer(status, failure=RpcFailure(code, "no", data))


def test_a_discover_result_becomes_facts():
    facts = modern_facts(
        result(
            supportedVersions=["2099-01-01", LATEST_MODERN, "2025-11-25"],
            capabilities={"tools": {"listChanged": True}},
            instructions="be kind",
            _meta={"io.modelcontextprotocol/serverInfo": {"name": "s", "version": ""}},
        ),
        LATEST_MODERN,
    )
    assert (facts.era, facts.protocol_version, facts.instructions) == (Era.MODERN, LATEST_MODERN, "be kind")
    assert facts.server_info == {"name": "s", "version": ""}
    assert facts.list_changed_declared
    assert facts.session is None


def test_hostile_members_are_left_out():
    facts = modern_facts(
        result(supportedVersions=[1, None, LATEST_MODERN], capabilities=[], instructions=3, _meta=["x"]), LATEST_MODERN
    )
    assert (facts.capabilities, facts.instructions, facts.server_info) == ({}, None, None)


@pytest.mark.parametrize("answer", [result(), result(supportedVersions="2026-07-28"), Answer(200, result=b"[]")])
def test_an_odd_result_is_no_modern_era(answer):
    with pytest.raises(EraNotSpokenError):
        modern_facts(answer, LATEST_MODERN)


def test_a_server_that_advertises_only_handshake_versions_is_legacy():
    with pytest.raises(EraNotSpokenError):
        modern_facts(result(supportedVersions=["2025-06-18", "2025-11-25"]), LATEST_MODERN)


def test_a_server_of_the_future_is_modern_but_unsupported():
    for answer in (result(supportedVersions=["2099-01-01"]), failed(-32022, {"supported": ["2099-01-01"]})):
        with pytest.raises(UnsupportedVersionError):
            modern_facts(answer, LATEST_MODERN)


@pytest.mark.parametrize("code", [-32020, -32021])
def test_errors_of_the_modern_era_are_evidence(code):
    facts = modern_facts(failed(code), LATEST_MODERN)
    assert (facts.era, facts.capabilities) == (Era.MODERN, {})
    with pytest.raises(EraNotSpokenError):
        modern_facts(failed(code, status=200), LATEST_MODERN)


@pytest.mark.parametrize("code", [-32601, -32600, -32602, -32603, -32000, 0])
def test_other_errors_are_not(code):
    with pytest.raises(EraNotSpokenError):
        modern_facts(failed(code), LATEST_MODERN)


@pytest.mark.parametrize(
    ("failure", "version"),
    [
        (RpcFailure(-32022, "", {"supported": [LATEST_MODERN, "2025-11-25"], "requested": "x"}), LATEST_MODERN),
        (RpcFailure(-32022, "", {"supported": ["2025-11-25"]}), None),
        (RpcFailure(-32022, "", {"supported": "2026-07-28"}), None),
        (RpcFailure(-32022, "", None), None),
        (RpcFailure(-32022, "", [1]), None),
        (RpcFailure(-32601, "", {"supported": [LATEST_MODERN]}), None),
    ],
)
def test_mutual_version(failure, version):
    assert mutual_version(failure) == version


def test_the_failure_to_tell():
    absent, outage = EraNotSpokenError("no"), ServerError("500")
    assert Detection({}, {Era.MODERN: absent, Era.LEGACY: outage}).failure is outage
    assert Detection({}, {Era.MODERN: UnauthorizedError("401"), Era.LEGACY: absent}).failure.code == "unauthorized"
    assert Detection({}, {Era.MODERN: absent, Era.LEGACY: NotMcpError("html")}).failure.code == "not-mcp"
    assert Detection({}, {Era.MODERN: absent, Era.LEGACY: EndpointNotFoundError("404")}).failure.code == "not-found"
    assert Detection({}, {}).failure is None
