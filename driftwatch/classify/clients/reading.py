"""Changes that only TypeScript clients see: the two schemas compared as Ajv reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, NamedTuple

from driftwatch.classify import exact
from driftwatch.classify.clients import typescript
from driftwatch.classify.clients.ajv import Ajv, CompileError, NotReadableError
from driftwatch.classify.clients.answer import ClientAnswer, Result
from driftwatch.classify.clients.words import listed
from driftwatch.classify.compare import classify
from driftwatch.classify.findings import readings
from driftwatch.classify.verdict import DEFAULT_POLICY, Finding, Root
from driftwatch.wire.facts import Era

_POLICY: Final = replace(DEFAULT_POLICY, formats=True)
#: any result at all: a schema that is lost is lost whatever comes
_ANY: Final = Result(absent=True)


class Lost(NamedTuple):
    """What a client can no longer use: the ``tool``, or any tool of the ``list``."""

    scope: Literal["tool", "list"]
    finding: Finding


def lost(old: Any, new: Any, era: Era) -> tuple[Lost, ...]:
    """Each TypeScript client that can use a tool with the output ``old`` (None: without any), but not with ``new``.

    Both must be what ``listing`` calls schemas; for anything else other clients speak.
    """
    if not isinstance(new, dict) or not (old is None or isinstance(old, dict)):
        return ()
    before = _asked(old, era) if old is not None else [None, None]
    return tuple(_losses(before, _asked(new, era)))


def _asked(schema: Any, era: Era) -> list[ClientAnswer]:
    answers = [typescript.ts1(schema, _ANY)] if era is Era.LEGACY else []
    return [*answers, typescript.ts2(schema, _ANY, era)]


def _losses(before: Sequence[ClientAnswer | None], after: Sequence[ClientAnswer]) -> Iterator[Lost]:
    for was, now in zip(before, after, strict=False):
        usable = was is None or was.refuses is True
        if usable and now.refuses == "list-lost":
            yield Lost("list", readings.lost(listed([now.client]), "any tool of the list", now.message, now.pointer))
        elif usable and now.refuses == "tool-lost":
            yield Lost("tool", readings.lost(listed([now.client]), "the tool", now.message, now.pointer))


def refused(old: Any, new: Any, root: Root, era: Era) -> tuple[Finding, ...]:
    """What TypeScript clients that hold ``old`` may refuse although, by the specification, nobody does.

    ``root``: which results there are.
    """
    if not isinstance(old, dict) or not isinstance(new, dict):
        return ()
    witness: Any = None
    refusing = []
    for client in ("ts1", "ts2") if era is Era.LEGACY else ("ts2",):
        try:
            engines = [typescript.engine_of(side) if client == "ts2" else "classic" for side in (old, new)]
            before, after = (Ajv(side, engine) for side, engine in zip((old, new), engines, strict=True))
        except (CompileError, NotReadableError):
            continue
        if exact.key(before.body) == exact.key(after.body):
            continue
        verdict = classify(before.body, after.body, direction="output", root=root, policy=_POLICY)
        if verdict.has_witness and _differ(before, after, verdict.witness):
            witness = verdict.witness
            refusing.append(client)
    return readings.refused(listed(refusing), witness) if refusing else ()


def _differ(before: Ajv, after: Ajv, value: Any) -> bool:
    try:
        return before.refusal(value) is not None and after.refusal(value) is None
    except NotReadableError:
        return False
