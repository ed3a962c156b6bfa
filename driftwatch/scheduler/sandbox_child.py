"""The classifier process: reads questions from standard input, writes answers to standard output, knows nothing else.

Started as ``python -m driftwatch.scheduler.sandbox_child MEMORY_MIB WALL_SECONDS``.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import sys
from typing import BinaryIO

from driftwatch.capture.canonical import parse
from driftwatch.classify import Verdict, classify
from driftwatch.classify.shelf import Shelf
from driftwatch.classify.tool import Assessment, assess, assess_schemas
from driftwatch.scheduler.sandbox_client import python_client
from driftwatch.scheduler.sandbox_frames import (
    HEADER,
    READY,
    AssessQuestion,
    Question,
    SchemasQuestion,
    decode_question,
    encode_answer,
    frame,
)


def main() -> None:
    """Answer until standard input ends. Too much memory or time ends the process; the service starts another one."""
    memory_mib, wall_seconds = int(sys.argv[1]), float(sys.argv[2])
    limit = memory_mib * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    questions, answers = sys.stdin.buffer, sys.stdout.buffer
    # Whatever a library prints must not end up between the frames.
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123 - open as long as the process
    _warm_up()
    shelf = Shelf()
    answers.write(frame(READY))
    answers.flush()
    while (body := _read(questions)) is not None:
        # The service kills a late process; the alarm is for the day the service itself is gone.
        signal.setitimer(signal.ITIMER_REAL, wall_seconds * 2)
        answers.write(frame(encode_answer(_answer(decode_question(body), shelf))))
        answers.flush()
        signal.setitimer(signal.ITIMER_REAL, 0)


def _warm_up() -> None:
    """Load what the first question would load, and keep all of it out of the collector's way for good."""
    wider = {"type": ["string", "null"], "pattern": "^a"}
    classify({"type": "string"}, wider, direction="output")
    classify(wider, {"type": "string"}, direction="output")
    gc.collect()
    gc.freeze()


def _answer(question: Question, shelf: Shelf) -> Assessment | Verdict:
    if isinstance(question, AssessQuestion):
        return assess(question.old, question.new, era=question.era, python=python_client, shelf=shelf)
    old, new = (None if side is None else parse(side) for side in (question.old, question.new))
    if isinstance(question, SchemasQuestion):
        directions, root, era = question.directions, question.root, question.era
        return assess_schemas(old, new, directions=directions, root=root, era=era, python=python_client)
    return classify(
        old,
        new,
        direction=question.direction,
        root=question.root,
        old_dialect=question.old_dialect,
        new_dialect=question.new_dialect,
        policy=question.policy,
    )


def _read(stream: BinaryIO) -> bytes | None:
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    (length,) = HEADER.unpack(header)
    return stream.read(length)


if __name__ == "__main__":
    main()
