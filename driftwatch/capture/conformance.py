"""What the official client SDKs would say about a definition, and what people should know about it.

The facts are measured (docs of the capture and classifier rooms): a root that is no object loses the whole list in
Python and TypeScript clients; an output schema that does not compile loses the whole list in TypeScript 1 clients.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import jsonschema_rs
from mcp_types.methods import validate_server_result
from pydantic import ValidationError

from driftwatch.capture import headers, references
from driftwatch.capture.digest import parts
from driftwatch.capture.model import ConformanceFinding, Invalid, Part
from driftwatch.capture.semantic import dialect_of
from driftwatch.safe_text import has_hidden
from driftwatch.wire.facts import LATEST_LEGACY, LATEST_MODERN, Era

DRAFT_07: Final = "http://json-schema.org/draft-07/schema"
#: jsonschema-rs looks any other dialect up, over the network too: never hand it one
KNOWN_DIALECTS: Final = frozenset(
    {
        "http://json-schema.org/draft-04/schema",
        "http://json-schema.org/draft-06/schema",
        DRAFT_07,
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema",
    }
)
_OLD_DIALECTS: Final = frozenset({"http://json-schema.org/draft-04/schema", "http://json-schema.org/draft-06/schema"})
_LONGEST: Final = 200
_KEYS: Final = {Part.INPUT: "inputSchema", Part.OUTPUT: "outputSchema"}


def why_invalid(definition: Mapping[str, Any], era: Era) -> Invalid | None:
    """Why client SDKs refuse the definition, or None."""
    found = parts(definition)
    return (
        _root(found, era)
        or _schema(Part.OUTPUT, found.get(Part.OUTPUT))
        or _schema(Part.INPUT, found.get(Part.INPUT))
        or _headers(found.get(Part.INPUT), era)
        or _model(definition, era)
    )


def findings(definition: Mapping[str, Any]) -> Iterator[ConformanceFinding]:
    """What people should know about a definition although it changes nothing."""
    found = parts(definition)
    for part, key in _KEYS.items():
        if part in found:
            yield from _schema_notes(part, f"/{key}", found[part])
    hidden = hidden_at(definition)
    if hidden is not None:
        yield ConformanceFinding("hidden-characters", hidden, "holds characters that people cannot see")


def hidden_at(value: Any, pointer: str = "") -> str | None:
    """JSON pointer of the first text below ``value`` that holds characters people cannot see; keys are texts too."""
    return next((place for place, text in _texts(value, pointer) if _hides(text)), None)


def _root(found: Mapping[Part, Any], era: Era) -> Invalid | None:
    if Part.INPUT not in found:
        return Invalid("input-schema-missing", "the tool has no inputSchema", "list")
    for part, key in _KEYS.items():
        schema = found.get(part)
        if part not in found:
            continue
        if not isinstance(schema, dict):
            return Invalid(f"{part.value}-schema-not-object", f"{key} is not a JSON object", "list")
        if (part is Part.INPUT or era is Era.LEGACY) and schema.get("type") != "object":
            return Invalid(f"{part.value}-root-not-object", f'{key} does not say "type": "object" at its root', "list")
    return None


def _schema(part: Part, schema: Any) -> Invalid | None:
    if not isinstance(schema, dict):
        return None
    # Clients compile output schemas only, and TypeScript 1 clients lose the whole list when one does not compile.
    scope = "list" if part is Part.OUTPUT else "tool"
    key = _KEYS[part]
    if dialect_of(schema) in KNOWN_DIALECTS or "$schema" not in schema:
        try:
            jsonschema_rs.meta.validate(schema)
        except jsonschema_rs.ValidationError as error:
            where = "".join(f"/{step}" for step in error.instance_path)
            return Invalid(f"{part.value}-schema-invalid", f"{key}{short(where)} is not valid JSON Schema", scope)
    for problem in references.problems(schema):
        if problem.kind == "unresolved":
            message = f"{key} refers to {short(problem.target)}, which it does not define"
            return Invalid(f"{part.value}-ref-unresolved", message, scope)
        if problem.kind == "endless":
            return Invalid(f"{part.value}-ref-endless", f"a $ref of {key} leads back to itself", scope)
    return None


def _headers(schema: Any, era: Era) -> Invalid | None:
    wrong = headers.problem(schema) if era is Era.MODERN else None
    return None if wrong is None else Invalid("x-mcp-header-invalid", short(wrong), "tool")


def _model(definition: Mapping[str, Any], era: Era) -> Invalid | None:
    """The Python SDK's own model of a tools/list result; it refuses a list for one bad field."""
    result: dict[str, Any] = {"tools": [dict(definition)]}
    if era is Era.MODERN:
        result |= {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    try:
        validate_server_result("tools/list", LATEST_MODERN if era is Era.MODERN else LATEST_LEGACY, result)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = "".join(f"/{step}" for step in first["loc"] if not str(step)[:1].isupper())
        return Invalid("sdk-refuses", f"{short(where.removeprefix('/tools/0'))}: {first['msg']}", "list")
    return None


def _schema_notes(part: Part, pointer: str, schema: Any) -> Iterator[ConformanceFinding]:
    if not isinstance(schema, dict):
        return
    dialect = dialect_of(schema)
    if "$schema" in schema and dialect not in KNOWN_DIALECTS:
        yield ConformanceFinding("unknown-dialect", f"{pointer}/$schema", "$schema names a dialect clients do not know")
    elif part is Part.OUTPUT and dialect in _OLD_DIALECTS:
        message = "TypeScript 2 clients refuse a tool whose output is marked draft-04 or draft-06"
        yield ConformanceFinding("old-dialect-output", f"{pointer}/$schema", message)
    elif part is Part.OUTPUT and dialect == DRAFT_07:
        message = "some clients know only 2020-12 and refuse an output marked draft-07"
        yield ConformanceFinding("draft-07-output", f"{pointer}/$schema", message)
    properties = schema.get("properties")
    named = properties.items() if isinstance(properties, dict) else ()
    boolean = next((name for name, child in named if isinstance(child, bool)), None)
    if boolean is not None:
        message = "a boolean property schema is valid, but TypeScript 1 clients refuse the list for it"
        yield ConformanceFinding("boolean-property", f"{pointer}/properties/{_step(boolean)}", message)
    remote = [problem.target for problem in references.problems(schema) if problem.kind == "remote"]
    if remote:
        more = f" and {len(remote) - 1} more places" if len(remote) > 1 else ""
        yield ConformanceFinding("remote-ref", pointer, f"refers to {short(remote[0])}{more}; they are never fetched")


def _texts(value: Any, pointer: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, f"{pointer}/{index}")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield f"{pointer}/{_step(key)}", key
            yield from _texts(item, f"{pointer}/{_step(key)}")


def _hides(text: str) -> bool:
    return has_hidden(text.replace("\r\n", "\n"))


def short(text: str) -> str:
    """At most 200 characters of what a server sent, for messages."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _step(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
