"""Changes that only TypeScript clients see: the two schemas compared as Ajv reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

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


def findings(old: Any, new: Any, *, root: Root, era: Era, unchanged: bool) -> tuple[Finding, ...]:
    """What TypeScript clients notice about the change of an output schema.

    ``unchanged``: by the specification the change breaks nobody; only then it is asked whether these clients refuse
    more. ``root``: which results there are.
    """
    if not isinstance(old, dict) or not isinstance(new, dict):
        return ()
    return (*_lost(old, new, era), *(_refused(old, new, root, era) if unchanged else ()))


def _asked(schema: Any, era: Era) -> Iterator[ClientAnswer]:
    if era is Era.LEGACY:
        yield typescript.ts1(schema, _ANY)
    yield typescript.ts2(schema, _ANY, era)


def _lost(old: Any, new: Any, era: Era) -> Iterator[Finding]:
    for before, after in zip(_asked(old, era), _asked(new, era), strict=True):
        if before.refuses is True and after.refuses in ("tool-lost", "list-lost"):
            what = "the tool" if after.refuses == "tool-lost" else "any tool of the list"
            yield from readings.lost(listed([after.client]), what, after.message, after.pointer)


def _refused(old: Any, new: Any, root: Root, era: Era) -> tuple[Finding, ...]:
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
