"""What one client does with a result while it holds an output schema. Pure data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

Client = Literal["spec", "ts1", "ts2", "py"]
Refuses = bool | Literal["tool-lost", "list-lost", "unknown"]

#: who each client is, for people
NAMES: Final[Mapping[Client, str]] = {
    "spec": "the specification",
    "ts1": "TypeScript SDK 1.x",
    "ts2": "TypeScript SDK 2.x",
    "py": "Python SDK",
}

NO_RESULT: Final = "the tool has an output schema but did not return structured content"


@dataclass(frozen=True, slots=True)
class ClientAnswer:
    """One client's answer.

    ``refuses``: whether it rejects the result; ``tool-lost``: it cannot use the schema at all, so every call of the
    tool fails; ``list-lost``: the schema costs it the whole tool list; ``unknown``: we could not find out, ``message``
    says why. ``message``: the validator's words. ``pointer``: where in the result, or, if the tool or the list is
    lost, where in the schema.
    """

    client: Client
    refuses: Refuses
    message: str = ""
    pointer: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """A call's structuredContent: a JSON value, or none at all."""

    value: Any = None
    absent: bool = False


def of_witness(witness: Mapping[str, Any]) -> Result:
    """The result that a witness stands for: ``{"value": …}`` or ``{"absent": true}``."""
    return Result(absent=True) if witness.get("absent") else Result(witness["value"])
