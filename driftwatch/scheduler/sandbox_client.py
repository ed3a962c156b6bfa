"""The Python SDK under a limit: its validator runs a server's patterns in Python's ``re``, which may never return.

Only for the classifier's process. Python's ``re`` looks for signals every few thousand steps, so a timer of CPU time
ends it; an answer that is not ready by then is ``unknown``, and the rest of the assessment stands.
"""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any, Final

from driftwatch.classify.clients import ClientAnswer, Result, python
from driftwatch.wire.facts import Era

CPU_SECONDS: Final = 0.5


class _TooLongError(BaseException):
    """Not an Exception: nothing between the timer and us may swallow it."""


def _stop(number: int, frame: FrameType | None) -> None:
    raise _TooLongError


def python_client(schema: Any, result: Result, era: Era) -> ClientAnswer:
    """See :func:`driftwatch.classify.clients.python.answer`. Call it on the main thread."""
    before = signal.signal(signal.SIGVTALRM, _stop)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS)
        return python.answer(schema, result, era)
    except _TooLongError:
        return ClientAnswer("py", "unknown", f"no answer within {CPU_SECONDS:g} s of CPU time")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
