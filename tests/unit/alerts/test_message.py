from __future__ import annotations

from datetime import timedelta
from typing import Any

from builders.changes import BROKEN_INPUT, BROKEN_OUTPUT, WINDOW, change, finding, part

from driftwatch.alerts.message import (
    Message,
    Subject,
    Told,
    drift_message,
    drift_title,
    from_json,
    reverted_message,
    to_json,
)
from driftwatch.alerts.policy import decide
from driftwatch.history.views import ChangeView

SUBJECT = Subject("orders", 1, "payments", 3, "https://drift.example")
INVALID = part("input", "invalid", finding("invalid-definition", "breaking", "`inputSchema` lost its type"))
QUIET = part("input", "compatible", finding("input-optional-property-added", "info"))


def told(given: ChangeView) -> Told:
    decision = decide(given)
    assert decision is not None
    return Told(given, decision.line, decision.outcome, decision.severity)


def texts(message: Message, *kinds: str) -> list[str]:
    return [p.text for p in message.paragraphs if p.kind in kinds]


def many(count: int, **fields: Any) -> list[Told]:
    return [
        told(
            change(
                BROKEN_OUTPUT if number % 3 else INVALID,
                id=number + 1,
                tool=f"tool_with_a_longer_name_{number:03}",
                tool_id=number,
                **fields,
            )
        )
        for number in range(count)
    ]


def test_one_tool_is_told_in_full() -> None:
    message = drift_message(SUBJECT, [told(change(BROKEN_OUTPUT))])
    assert message.title == "🔇✕ Silent breaking change · orders / get_order"
    assert texts(message, "text") == ["`status` may now be null.", "A client that cached v3 refuses:"]
    assert texts(message, "code") == ['{"id":"A-1041","status":null}']
    assert texts(message, "do") == [
        "restart clients started before 14:07 UTC, so that they read v4; check code that reads `status`."
    ]
    assert texts(message, "note") == [
        "v3 → v4, between 14:02 and 14:07 UTC · not announced: the server declares no listChanged",
        "owner payments · seen by 2026-07-28 clients",
    ]
    assert [link.url for link in message.links] == [
        "https://drift.example/changes/7",
        "https://drift.example/announce#not-declared",
    ]
    assert message.fallback == "🔇✕ Silent breaking change · orders / get_order: status may now be null"


def test_a_tool_seen_by_both_kinds_of_clients_is_one_tool() -> None:
    both = [told(change(BROKEN_OUTPUT)), told(change(BROKEN_OUTPUT, id=8, era="legacy", tool_id=12))]
    message = drift_message(SUBJECT, both)
    assert message.title.endswith("orders / get_order")
    assert "seen by 2026-07-28 and 2025-11-25 clients" in texts(message, "note")[1]


def test_quiet_changes_beside_it_are_counted() -> None:
    message = drift_message(SUBJECT, [told(change(BROKEN_OUTPUT)), told(change(QUIET, id=8, tool="search"))])
    assert texts(message, "text")[0] == "`status` may now be null.  +1 compatible change."


def test_161_tools_are_grouped_by_what_happened() -> None:
    message = drift_message(SUBJECT, many(161))
    assert message.title == "🔇✕ Silent breaking change · orders / 161 tools"
    first, breaking, invalid, proof = texts(message, "text")
    assert first == "161 tools changed at once: 107 breaking, 54 invalid."
    assert breaking.startswith("✕ `tool_with_a_longer_name_001`, ")
    assert breaking.endswith("+101 more: `status` may now be null")
    assert invalid.endswith("+48 more: `inputSchema` lost its type")
    assert proof == "`tool_with_a_longer_name_001`: A client that cached v3 refuses:"
    assert len(texts(message, "code")) == 1
    assert [link.url for link in message.links] == ["https://drift.example/changesets/3"]


def test_a_group_is_not_told_by_the_name_of_one_of_them() -> None:
    reject = "clients built on the official SDKs now reject `t{}`: its inputSchema is no object"
    broken = [
        told(change(part("input", "invalid", finding("x", "breaking", reject.format(n))), id=n + 1, tool=f"t{n}"))
        for n in range(3)
    ]
    message = drift_message(SUBJECT, broken)
    said = "now reject each of them: its inputSchema is no object"
    assert texts(message, "text")[1] == f"⊘ `t0`, `t1`, `t2`: clients built on the official SDKs {said}"
    assert "repair the definitions; clients on the official SDKs refuse them" in texts(message, "do")[0]
    assert "v3 → v4" not in str(message), "versions are those of one tool"


def test_a_window_of_several_days_ends_with_its_day() -> None:
    long = (WINDOW[0] - timedelta(days=6), WINDOW[1])
    message = drift_message(SUBJECT, [told(change(BROKEN_OUTPUT, window=long))])
    assert texts(message, "do")[0].startswith("restart clients started before 30 Nov 14:07 UTC, ")
    back = Told(change(BROKEN_OUTPUT, window=long), "back-at-baseline", "summary", None)
    assert texts(reverted_message(SUBJECT, [back]), "do")[0].endswith("before 30 Nov 14:07 UTC.")


def test_many_different_causes_become_a_number() -> None:
    different = [
        told(
            change(
                part("output", "breaking", finding("x", "breaking", f"`field{n}` may now be null"), via="declared"),
                id=n + 1,
                tool=f"t{n}",
            )
        )
        for n in range(30)
    ]
    said = texts(drift_message(SUBJECT, different), "text")
    assert len(said) == 1 + 8 + 1
    assert said[-1] == "+22 more changed in other ways, listed on the page."


def test_removals_are_one_group() -> None:
    gone = [
        told(change(part("presence", "breaking"), kind="removed", to_version=None, id=n, tool=f"t{n}"))
        for n in range(3)
    ]
    message = drift_message(SUBJECT, gone)
    assert texts(message, "text")[1] == "✕ `t0`, `t1`, `t2` are gone"
    [do] = texts(message, "do")
    assert do.startswith("find what calls `t0`, `t1` and `t2`; ")
    assert do.endswith(" still offer them.")


def test_the_title_and_the_proof_are_the_worst_ones() -> None:
    both = [told(change(QUIET, id=1, tool="a")), told(change(BROKEN_INPUT, id=2, tool="z", announcement="unknown"))]
    assert drift_title(SUBJECT, both) == "◌✕ Breaking change, announcement unknown · orders / z"


def test_a_second_message_says_why_it_comes() -> None:
    message = drift_message(SUBJECT, [told(change(BROKEN_OUTPUT))], preface="Back again; it was reverted.")
    assert message.paragraphs[0].text == "Back again; it was reverted."


def test_back_to_normal() -> None:
    back = Told(change(BROKEN_OUTPUT, from_version=4, to_version=3), "back-at-baseline", "summary", None)
    message = reverted_message(SUBJECT, [back])
    assert message.title == "✓ Back at the accepted contract · orders / get_order"
    assert texts(message, "text") == ["`get_order` is as accepted again."]


def test_no_owner_is_said() -> None:
    nobody = Subject("orders", 1, None, 3, "https://drift.example")
    assert "no owner set" in texts(drift_message(nobody, [told(change(BROKEN_OUTPUT))]), "note")[1]


def test_a_message_survives_the_outbox() -> None:
    message = drift_message(SUBJECT, many(20))
    assert from_json(to_json(message)) == message
