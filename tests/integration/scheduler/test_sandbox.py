"""The classifier's own process: it answers as the library does, and its end is never ours."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from driftwatch.capture.model import Part, ToolDefinition
from driftwatch.capture.snapshot import define
from driftwatch.classify import Policy, classify
from driftwatch.classify.tool import assess
from driftwatch.errors import CaptureError
from driftwatch.scheduler import sandbox_frames as frames
from driftwatch.scheduler.sandbox import Sandbox
from driftwatch.scheduler.sandbox_client import python_client
from driftwatch.settings import Settings
from driftwatch.wire.facts import Era


def tool(**more: Any) -> ToolDefinition:
    definition = define(json.dumps({"name": "t", "inputSchema": {"type": "object"}, **more}).encode(), Era.MODERN)
    assert definition is not None
    return definition


OLD = tool(outputSchema={"properties": {"n": {"maximum": 2**70}, "s": {"type": "string"}}}, description="\ud83d\ude00")
NEW = tool(outputSchema={"properties": {"n": {"maximum": 2**71}, "s": {"type": ["string", "null"]}}}, title="t")

# Within every limit on size, but each of the validators, normal forms and nodes made of it takes tens of megabytes.
GREEDY: dict[str, Any] = {
    "properties": {f"p{i}": {"enum": [f"{i}-{j}-" + "x" * 400 for j in range(6)]} for i in range(9_000)}
}


def settings(**more: Any) -> Settings:
    return Settings(classify_timeout_seconds=more.pop("seconds", 20), **more)


async def test_the_process_answers_as_the_library_does() -> None:
    async with Sandbox(settings()) as sandbox:
        for pair in ((OLD, NEW), (NEW, OLD), (None, NEW), (OLD, None), (OLD, tool(outputSchema={"properties": 1}))):
            answer = assess(*pair, era=Era.MODERN, python=python_client)
            assert await sandbox.assess(*pair, era=Era.MODERN) == answer
        question: dict[str, Any] = {"direction": "output", "root": "any", "old_dialect": "draft-07"}
        old, new = {"const": 2**70}, {"enum": [2**70, 0.1, "é"]}
        assert await sandbox.classify(old, new, **question) == classify(old, new, **question)
        assert await sandbox.classify(None, True, direction="output") == classify(None, True, direction="output")


async def test_bare_schemas_are_assessed_both_ways() -> None:
    async with Sandbox(settings()) as sandbox:
        found = await sandbox.assess_schemas(
            {"type": "object"},
            {"type": "object", "required": ["a"]},
            directions=("output", "input"),
            root="any",
            era=Era.LEGACY,
        )
        assert [(part.part, part.verdict) for part in found.parts] == [
            (Part.OUTPUT, "compatible"),
            (Part.INPUT, "breaking"),
        ]
        with pytest.raises(CaptureError):
            await sandbox.assess_schemas(float("nan"), True, directions=("output",), root="any", era=Era.MODERN)  # type: ignore[arg-type] # no schema at all


async def test_a_pattern_that_python_never_finishes_costs_only_that_answer() -> None:
    """Exponential in Python's ``re``: what the Python SDK does is unknown, everything else is known, and soon."""
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a|a)*$"}, "b": {"type": "string"}}}
    hanging = {"a": "a" * 60 + "!", "b": None}
    async with Sandbox(settings(seconds=8)) as sandbox:
        found = await sandbox.assess_schemas(
            schema, {"const": hanging}, directions=("output",), root="object", era=Era.LEGACY
        )
        (part,) = found.parts
        assert part.verdict == "breaking"
        answers = {answer["client"]: answer for answer in (part.clients or {})["answers"]}
        assert [answers[client]["refuses"] for client in ("spec", "ts1", "ts2", "py")] == [True, True, True, "unknown"]
        assert "CPU time" in answers["py"]["message"]
        assert len(sandbox._running) == 1, "the process lives on"


async def test_one_process_serves_many_questions_and_waiting_ones_wait() -> None:
    async with Sandbox(settings()) as sandbox:
        answers = await asyncio.gather(
            *(sandbox.classify({"maximum": n}, {"maximum": n + 1}, direction="output") for n in range(8))
        )
        assert [answer.witness for answer in answers] == [n + 1 for n in range(8)]
        assert len(sandbox._running) == 1


async def test_a_late_process_is_replaced_and_the_answer_is_undecided() -> None:
    async with Sandbox(settings(seconds=1.5)) as sandbox:
        await sandbox.classify(True, True, direction="output")
        (child,) = sandbox._running
        os.kill(child._process.pid, 19)  # SIGSTOP: the process is there and says nothing
        verdict = await sandbox.classify({"type": "string"}, {"type": "null"}, direction="output")
        assert (verdict.outcome, verdict.reason) == ("undecided", "budget: no answer within 1.5 s")
        assert child._process.returncode is not None
    async with Sandbox(settings()) as sandbox:
        assert (await sandbox.classify({"type": "string"}, {"type": "null"}, direction="output")).outcome == "breaking"


async def test_a_process_that_dies_is_replaced() -> None:
    async with Sandbox(settings()) as sandbox:
        await sandbox.classify(True, True, direction="output")
        (child,) = sandbox._running
        child._process.kill()
        first = await sandbox.classify({"type": "string"}, {"type": "null"}, direction="output")
        assert first.outcome in ("undecided", "breaking")  # the death may be noticed before or after the question
        assert (await sandbox.classify({"type": "string"}, {"type": "null"}, direction="output")).outcome == "breaking"


async def test_a_schema_that_wants_too_much_memory_is_undecided_in_every_part() -> None:
    async with Sandbox(settings(classify_memory_mib=160)) as sandbox:
        old = tool(outputSchema=GREEDY, inputSchema={"type": "object", **GREEDY})
        new = tool(
            outputSchema={**GREEDY, "not": {"required": ["q"]}},
            inputSchema={"type": "object", **GREEDY, "not": {"required": ["q"]}},
        )
        found = await sandbox.assess(old, new, era=Era.MODERN)
        assert {part.part for part in found.parts} == {Part.INPUT, Part.OUTPUT}
        assert {part.verdict for part in found.parts} == {"undecided"}
        assert all((part.reason or "").startswith("budget: ") for part in found.parts)
        # The next question is answered by a new process.
        assert (await sandbox.assess(OLD, NEW, era=Era.MODERN)).verdict == "breaking"


async def test_a_cancelled_question_leaves_no_process_in_the_middle_of_an_answer() -> None:
    async with Sandbox(settings()) as sandbox:
        asking = asyncio.create_task(sandbox.classify({"type": "string"}, {"type": "null"}, direction="output"))
        await asyncio.sleep(0.05)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        verdict = await sandbox.classify({"type": "null"}, {"type": "string"}, direction="output")
        assert verdict.witness == "a"


async def test_the_process_knows_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTWATCH_SECRET_KEY", "hush")
    async with Sandbox(settings()) as sandbox:
        await sandbox.classify(True, True, direction="output")
        (child,) = sandbox._running
        environment = Path(f"/proc/{child._process.pid}/environ").read_bytes()
        assert b"hush" not in environment
        assert b"DRIFTWATCH" not in environment


async def test_what_is_not_json_is_refused_before_it_is_asked() -> None:
    async with Sandbox(settings()) as sandbox:
        with pytest.raises(CaptureError):
            await sandbox.classify({"const": float("nan")}, True, direction="output")
        assert not sandbox._running


def test_an_answer_that_is_none_is_not_read() -> None:
    with pytest.raises(ValueError):
        frames.decode_verdict(b'{"outcome":"fine","direction":"output"}')
    with pytest.raises(ValueError):
        frames.decode_assessment(b'{"parts":[],"verdict":"compatible","via":null,"part":"__reduce__"}')


def test_answers_keep_big_numbers_and_the_policy_travels() -> None:
    verdict = classify({"const": 2**70}, {"const": 2**70 + 1}, direction="output")
    assert frames.decode_verdict(frames.encode_answer(verdict)) == verdict
    question = frames.ClassifyQuestion(b"true", None, "input", "object", None, None, Policy(formats=True, max_steps=3))
    assert frames.decode_question(frames.encode_question(question)) == question
