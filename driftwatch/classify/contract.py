"""What two contracts are compared from: a schema, a tool or a tool list, as JSON. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from driftwatch.capture import snapshot
from driftwatch.capture.canonical import parse
from driftwatch.capture.model import ToolDefinition
from driftwatch.errors import InputError
from driftwatch.wire.facts import Era

_TOOL_KEYS: Final = frozenset({"inputSchema", "outputSchema"})


@dataclass(frozen=True, slots=True)
class Contract:
    """One side of a comparison: a bare schema, or tools by name. ``single``: the input was one tool, not a list."""

    era: Era
    schema: Any = None
    tools: Mapping[str, ToolDefinition] = field(default_factory=dict)
    single: bool = False
    bare: bool = False


def read(data: bytes, source: str, era: Era) -> Contract:
    """The contract in a JSON document; what it is shows in its form."""
    try:
        found = msgspec.json.decode(data, type=dict[str, msgspec.Raw] | list[msgspec.Raw] | bool)
    except msgspec.MsgspecError as error:
        raise InputError(
            f"{source} holds no contract: {error}",
            hint="Give a JSON schema, a tool with an inputSchema, or a tools/list result.",
        ) from error
    if isinstance(found, list):
        return _listed(found, era)
    if isinstance(found, dict):
        if "result" in found and "jsonrpc" in found:
            return read(bytes(found["result"]), source, era)
        if "tools" in found and not _TOOL_KEYS & found.keys() and bytes(found["tools"])[:1] == b"[":
            return _listed(msgspec.json.decode(found["tools"], type=list[msgspec.Raw]), era)
        if "name" in found and _TOOL_KEYS & found.keys():
            tool = snapshot.define(data, era)
            if tool is None:
                raise InputError(f"{source} holds a tool without a usable name", hint="Give the tool a name.")
            return Contract(era, tools={tool.name: tool}, single=True)
    return Contract(era, schema=parse(data), bare=True)


def _listed(entries: list[msgspec.Raw], era: Era) -> Contract:
    return Contract(era, tools=snapshot.take([bytes(entry) for entry in entries], era=era).tools)
