"""How alike the eras show tools, asked of the classifier once per pair of definitions and process."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

from driftwatch.capture.model import ToolDefinition
from driftwatch.classify.comparing import Classifier
from driftwatch.classify.eras import Equivalence, across_eras

#: pairs whose answers are kept
KEPT: Final = 4096
#: a page does not wait longer than this for what has never been asked
PATIENCE_SECONDS: Final = 2.0

Sides = tuple[ToolDefinition, ToolDefinition]
"""The modern definition and the legacy one."""


class Equivalences:
    """Answers of :func:`driftwatch.classify.eras.across_eras`. What takes too long is missing, and there next time."""

    def __init__(self, classifier: Classifier) -> None:
        self._classifier = classifier
        self._asked: OrderedDict[tuple[bytes, bytes], asyncio.Task[Equivalence]] = OrderedDict()

    async def of(self, pairs: Mapping[str, Sides], *, seconds: float = PATIENCE_SECONDS) -> dict[str, Equivalence]:
        """The answers by the names of ``pairs``, as many as can be had in time."""
        asked = {name: self._ask(*sides) for name, sides in pairs.items()}
        if asked:
            await asyncio.wait(asked.values(), timeout=seconds)
        return {name: task.result() for name, task in asked.items() if _answered(task)}

    def _ask(self, modern: ToolDefinition, legacy: ToolDefinition) -> asyncio.Task[Equivalence]:
        key = (modern.sha256, legacy.sha256)
        known = self._asked.get(key)
        if known is None or (known.done() and not _answered(known)):
            self._asked[key] = asyncio.create_task(across_eras(self._classifier, modern, legacy), name="eras")
        self._asked.move_to_end(key)
        while len(self._asked) > KEPT:
            self._asked.popitem(last=False)
        return self._asked[key]


def _answered(task: asyncio.Task[Equivalence]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is None
