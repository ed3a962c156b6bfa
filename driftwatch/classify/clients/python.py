"""The Python SDK: ``jsonschema`` itself, by ``$schema``, without formats.

jsonschema compiles the schema's patterns with Python's ``re``, which a hostile pattern can keep busy for ever. So this
runs only where someone stops it: the classifier's process hands :func:`answer` on with a limit around it, and nothing
else in driftwatch calls it.
"""

from __future__ import annotations

import warnings
from decimal import Decimal
from typing import Any

from jsonschema.exceptions import SchemaError, best_match
from jsonschema.validators import validator_for
from referencing import Registry

from driftwatch.classify.clients import listing
from driftwatch.classify.clients.answer import NO_RESULT, ClientAnswer, Result
from driftwatch.classify.keywords import pointer
from driftwatch.wire.facts import Era


def answer(schema: Any, result: Result, era: Era) -> ClientAnswer:
    """What mcp 2.x does, and mcp 1.x in the legacy era, the only one it speaks. May take arbitrarily long."""
    flaw = listing.flaw(schema, Era.MODERN, _is_property) or listing.flaw(schema, era, _is_property)
    if flaw is not None:
        return ClientAnswer("py", "list-lost", flaw.message, flaw.pointer)
    if result.absent or (era is Era.LEGACY and not isinstance(result.value, dict)):
        return ClientAnswer("py", True, NO_RESULT if result.absent else "structuredContent should be a dictionary")
    try:
        return _judged(plain(schema), plain(result.value))
    except SchemaError as error:
        return ClientAnswer("py", "tool-lost", error.message, pointer(tuple(error.absolute_path)))
    except MemoryError:
        return ClientAnswer("py", "unknown", "no answer within the memory that one question may take")
    except Exception as error:
        # Whatever escapes from jsonschema, the client raises it instead of handing the result on.
        return ClientAnswer("py", True, f"{type(error).__name__}: {error}")


def _judged(schema: Any, value: Any) -> ClientAnswer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kind = validator_for(schema)
    kind.check_schema(schema)
    # An empty registry: a reference out of the document is an error when it is reached, never a download.
    error = best_match(kind(schema, registry=Registry()).iter_errors(value))
    if error is None:
        return ClientAnswer("py", False)
    return ClientAnswer("py", True, error.message, pointer(tuple(error.absolute_path)))


def _is_property(schema: Any) -> bool:
    return isinstance(schema, dict | bool)


def plain(json: Any) -> Any:
    """A JSON value as Python's ``json`` reads it: numbers with a point are doubles."""
    if isinstance(json, dict):
        return {name: plain(item) for name, item in json.items()}
    if isinstance(json, list):
        return [plain(item) for item in json]
    return float(json) if isinstance(json, Decimal) else json
