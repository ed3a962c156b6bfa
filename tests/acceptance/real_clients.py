"""The real SDK clients, asked in bulk: Node for TypeScript 1.x and 2.x, an environment each for mcp 1.x and 2.x."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from acceptance.harness import HERE, node, other_python

from driftwatch.classify.clients import ClientAnswer, Result, python, typescript
from driftwatch.wire.facts import Era

PYTHON_SCRIPT = HERE / "servers" / "python_clients.py"
Question = dict[str, Any]

COMMANDS: dict[str, Callable[[], list[str]]] = {
    "ts1": lambda: node("clients.mjs"),
    "ts2": lambda: node("clients.mjs"),
    "py1": lambda: [other_python("mcp1"), "-W", "ignore", str(PYTHON_SCRIPT)],
    "py2": lambda: [sys.executable, "-W", "ignore", str(PYTHON_SCRIPT)],
}


@dataclass(frozen=True)
class Disagreement:
    """The real client does one thing, we say another."""

    question: Question
    real: Any
    ours: Any
    message: str

    @property
    def key(self) -> tuple[str, str, str]:
        """Client, schema, result: what a table of known disagreements is looked up by."""
        asked = self.question
        return asked["client"], json.dumps(asked["schema"]), json.dumps(asked.get("value", "absent"))


def ask(questions: Sequence[Question]) -> list[dict[str, Any]]:
    """What the real clients say, in the order of the questions."""
    said: dict[int, dict[str, Any]] = {}
    for client, command in COMMANDS.items():
        mine = [(index, question) for index, question in enumerate(questions) if question["client"] == client]
        if mine:
            answers = _run(command(), [question for _, question in mine])
            said |= {index: answer for (index, _), answer in zip(mine, answers, strict=True)}
    return [said[index] for index in range(len(questions))]


def _run(command: list[str], questions: list[Question]) -> list[dict[str, Any]]:
    given = json.dumps(questions).encode()
    done = subprocess.run(command, input=given, capture_output=True, timeout=240, env=dict(os.environ), check=False)
    assert done.returncode == 0, done.stderr[-2000:].decode(errors="replace")
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


def ours(question: Question) -> ClientAnswer:
    """What the emulation says."""
    result, era = Result(question.get("value"), bool(question.get("absent"))), Era(question["era"])
    if question["client"] == "ts1":
        return typescript.ts1(question["schema"], result)
    if question["client"] == "ts2":
        return typescript.ts2(question["schema"], result, era)
    return python.answer(question["schema"], result, era)


def compare(questions: Sequence[Question]) -> tuple[Counter[str], list[Disagreement]]:
    """How often each client was asked, and where we disagree with it."""
    asked: Counter[str] = Counter()
    found = []
    for question, real in zip(questions, ask(questions), strict=True):
        asked[question["client"]] += 1
        answer = ours(question)
        if answer.refuses != real["refuses"]:
            found.append(Disagreement(question, real["refuses"], answer.refuses, real["message"]))
    return asked, found


def agreement(asked: Counter[str], found: Sequence[Disagreement]) -> dict[str, str]:
    """Per client: ``361/362 = 99.7 %``."""
    wrong = Counter(disagreement.question["client"] for disagreement in found)
    return {c: f"{n - wrong[c]}/{n} = {(n - wrong[c]) / n:.1%}" for c, n in sorted(asked.items())}
