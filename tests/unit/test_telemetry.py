"""Log lines hold no secrets and no control characters; readiness adds up what probes say."""

from __future__ import annotations

import io
import json
import logging

import pytest
import structlog
from pydantic import SecretStr

from driftwatch.telemetry import HIDDEN, Health, Readiness, clean_event, configure_logging, without_secrets


def last(lines: io.StringIO) -> dict[str, object]:
    entry: dict[str, object] = json.loads(lines.getvalue().splitlines()[-1])
    return entry


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("token dw_abcdefghijklmnopqrstuvwxyz0123456789 refused", "abcdefghijkl"),
        ("Authorization: Bearer eyJhbGciOi.J9-x_y=", "eyJhbGciOi"),
        ("authorization: Basic bWVpOnMzY3IzdA==", "bWVpOnMz"),
        ("-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMG\n-----END PRIVATE KEY-----", "MIGHAgEA"),
        ("GET /login/w5dpc4Umv9GxHy7GR2Q3zwVPzAV64xzN 200", "w5dpc4"),
        ("https://hooks.slack.com/services/T000/B000/XXXX", "T000"),
        ("postgresql://watch:hunter2@db:5432/x", "hunter2"),
    ],
)
def test_secrets_inside_text_are_hidden(text: str, secret: str) -> None:
    shown = without_secrets(text)
    assert secret not in shown
    assert HIDDEN in shown


@pytest.mark.parametrize("text", ["https://mcp.example.com/mcp", "12:30:59 [info]", "a@b.example wrote", "dw_short"])
def test_ordinary_text_stays(text: str) -> None:
    assert without_secrets(text) == text


def test_values_with_secret_names_are_hidden_whatever_they_are() -> None:
    event = {
        "event": "x",
        "headers": {"X": "1"},
        "private_key": "k",
        "credential": {"x": "1"},
        "admin_token": "t",
        "deep": {"Password": "p"},
        "key": SecretStr("k"),
    }
    assert clean_event(None, "info", event) == {
        "event": "x",
        "headers": HIDDEN,
        "private_key": HIDDEN,
        "credential": HIDDEN,
        "admin_token": HIDDEN,
        "deep": {"Password": HIDDEN},
        "key": HIDDEN,
    }


def test_our_lines_are_json_with_the_request_id(lines: io.StringIO) -> None:
    with structlog.contextvars.bound_contextvars(request_id="r1"):
        structlog.get_logger("driftwatch.x").info("polled", server="orders", tools=3)
    entry = last(lines)
    assert {name: entry[name] for name in ("event", "server", "tools", "level", "request_id", "logger")} == {
        "event": "polled",
        "server": "orders",
        "tools": 3,
        "level": "info",
        "request_id": "r1",
        "logger": "driftwatch.x",
    }


def test_lines_of_libraries_take_the_same_way(lines: io.StringIO) -> None:
    logging.getLogger("some.library").warning("refused %s", "Bearer abcdef123456")
    assert last(lines)["event"] == f"refused Bearer {HIDDEN}"


def test_what_servers_say_cannot_steer_a_terminal_or_break_a_line(lines: io.StringIO) -> None:
    structlog.get_logger().warning("odd", tool="a\x1b[31m\u202eb\ud800", names=["\u200b"])
    entry = last(lines)
    assert entry["tool"] == "a\\u{1B}[31m\\u{202E}b\\u{D800}"
    assert entry["names"] == ["\\u{200B}"]
    assert len(lines.getvalue().splitlines()) == 1


def test_tracebacks_hold_no_secrets(lines: io.StringIO) -> None:
    try:
        int("postgresql://u:hunter2@db/x")
    except ValueError:
        structlog.get_logger().exception("failed")
    assert "hunter2" not in lines.getvalue()
    assert "ValueError" in str(last(lines)["exception"])


def test_chatty_libraries_only_warn(lines: io.StringIO) -> None:
    logging.getLogger("httpx2").info("HTTP Request: GET https://mcp.example/?key=1")
    logging.getLogger("apscheduler.scheduler").info("Added job")
    assert lines.getvalue() == ""


def test_text_format_is_for_people() -> None:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    stream = io.StringIO()
    configure_logging("text", stream)
    structlog.get_logger().info("polled", server="orders")
    root.handlers, root.level = handlers, level
    structlog.reset_defaults()
    assert "polled" in stream.getvalue()
    assert "server=orders" in stream.getvalue()


def test_readiness_names_what_is_wrong() -> None:
    health = Health()
    health.watch("scheduler", lambda: None)
    health.watch("worker", lambda: "ended")
    report = Readiness({"database": None, **health.problems()})
    assert not report.ready
    assert report.as_dict() == {
        "status": "not-ready",
        "checks": {"database": "ok", "scheduler": "ok", "worker": "ended"},
    }
    health.watch("worker", lambda: None)
    assert Readiness(health.problems()).ready
