"""The TypeScript SDKs: 1.x (``@modelcontextprotocol/sdk``) and 2.x (``@modelcontextprotocol/client``).

Both check the tool list by a model of their own, then compile each output schema with Ajv. A schema that does not
compile costs 1.x the whole list and 2.x the one tool.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from driftwatch.classify.clients import listing
from driftwatch.classify.clients.ajv import Ajv, CompileError, NotReadableError
from driftwatch.classify.clients.ajv_keywords import Engine
from driftwatch.classify.clients.answer import NO_RESULT, ClientAnswer, Result
from driftwatch.wire.facts import Era

Generation = Literal["ts1", "ts2"]

_BY_DRAFT: Final[dict[str, Engine]] = {
    "draft/2020-12": "2020-12",
    "draft/2019-09": "2019-09",
    "draft-07": "classic",
    "draft-06": "classic",
}
_ENGINES: Final[dict[str, Engine]] = {
    f"{scheme}://json-schema.org/{draft}/schema": engine
    for scheme in ("http", "https")
    for draft, engine in _BY_DRAFT.items()
}
_OBJECT_ONLY: Final = "structuredContent: expected record"


def ts1(schema: Any, result: Result) -> ClientAnswer:
    """SDK 1.x: speaks the legacy era only, and reads every schema with the draft-07 class of Ajv."""
    flaw = listing.flaw(schema, Era.LEGACY, lambda child: isinstance(child, dict | list))
    if flaw is not None:
        return ClientAnswer("ts1", "list-lost", flaw.message, flaw.pointer)
    try:
        return _judged("ts1", Ajv(schema, "classic"), result, Era.LEGACY)
    except CompileError as error:
        return ClientAnswer("ts1", "list-lost", error.message, error.pointer)
    except (NotReadableError, RecursionError, MemoryError) as error:
        return ClientAnswer("ts1", "unknown", str(error))


def ts2(schema: Any, result: Result, era: Era) -> ClientAnswer:
    """SDK 2.x: the class of Ajv that ``$schema`` asks for, 2020-12 where it asks for none."""
    flaw = listing.flaw(schema, era, lambda child: True)
    if flaw is not None:
        return ClientAnswer("ts2", "list-lost", flaw.message, flaw.pointer)
    try:
        return _judged("ts2", Ajv(schema, engine_of(schema)), result, era)
    except CompileError as error:
        return ClientAnswer("ts2", "tool-lost", error.message, error.pointer)
    except (NotReadableError, RecursionError, MemoryError) as error:
        return ClientAnswer("ts2", "unknown", str(error))


def engine_of(schema: dict[str, Any]) -> Engine:
    """The class of Ajv that SDK 2.x picks; raises CompileError for a dialect it does not support."""
    dialect = schema.get("$schema")
    if not isinstance(dialect, str):
        return "2020-12"
    engine = _ENGINES.get(dialect.removesuffix("#"))
    if engine is None:
        raise CompileError(f'JSON Schema declares an unsupported dialect ("$schema": "{dialect[:200]}")', "/$schema")
    return engine


def _judged(client: Generation, ajv: Ajv, result: Result, era: Era) -> ClientAnswer:
    if result.absent:
        return ClientAnswer(client, True, NO_RESULT)
    if era is Era.LEGACY and not isinstance(result.value, dict):
        return ClientAnswer(client, True, _OBJECT_ONLY)
    refusal = ajv.refusal(result.value)
    if refusal is None:
        return ClientAnswer(client, False)
    return ClientAnswer(client, True, f"data{refusal.pointer} {refusal.message}", refusal.pointer)
