"""Which clients refuse a result while they hold the old output schema: the official SDKs, emulated. Pure.

The facts are those of the real clients (docs/clients.md); tests/acceptance/test_client_validators.py asks them again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from driftwatch.classify import dialect
from driftwatch.classify.clients import typescript
from driftwatch.classify.clients.answer import NAMES, NO_RESULT, Client, ClientAnswer, Result, of_witness
from driftwatch.classify.gate import Gate, GateError
from driftwatch.classify.verdict import DEFAULT_POLICY
from driftwatch.wire.facts import Era

__all__ = ["NAMES", "Client", "ClientAnswer", "PythonClient", "Result", "answers", "of_witness", "specification"]

#: the Python client with a limit around it, see driftwatch.classify.clients.python
PythonClient = Callable[[Any, Result, Era], ClientAnswer]


def answers(schema: Any, result: Result, *, era: Era, python: PythonClient | None = None) -> tuple[ClientAnswer, ...]:
    """What each client that holds ``schema`` does with ``result``, a call of a tool that did not fail.

    ``era``: how the result travels. SDK 1.x speaks the legacy era only and is answered for it whatever ``era`` says.
    Without ``python`` the Python SDK is not asked.
    """
    found = (specification(schema, result), typescript.ts1(schema, result), typescript.ts2(schema, result, era))
    return found if python is None else (*found, python(schema, result, era))


def specification(schema: Any, result: Result) -> ClientAnswer:
    """What a client does that follows JSON Schema to the letter: formats refuse nothing, absence is no result."""
    if result.absent:
        return ClientAnswer("spec", True, NO_RESULT)
    known = dialect.of(schema)
    if known is None:
        return ClientAnswer("spec", "unknown", "the schema asks for an unknown dialect", "/$schema")
    try:
        refusal = Gate(schema, known, "any", DEFAULT_POLICY).refusal(result.value)
    except (GateError, ValueError, OverflowError) as error:
        return ClientAnswer("spec", "unknown", str(error))
    return (
        ClientAnswer("spec", False) if refusal is None else ClientAnswer("spec", True, refusal.message, refusal.pointer)
    )
