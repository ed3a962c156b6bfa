"""A snapshot and what it is made of. Pure data."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Part(StrEnum):
    """The parts of a tool definition that change separately; ``presence`` is the tool being there at all."""

    INPUT = "input"
    OUTPUT = "output"
    ANNOTATIONS = "annotations"
    TEXT = "text"
    META = "meta"
    PRESENCE = "presence"


@dataclass(frozen=True, slots=True)
class ConformanceFinding:
    """Something about a definition or a list that people should know although it is no change."""

    rule: str
    pointer: str
    message: str


@dataclass(frozen=True, slots=True)
class Invalid:
    """Why client SDKs refuse a definition. ``scope``: ``tool`` (only this one) or ``list`` (the whole list is lost)."""

    code: str
    message: str
    scope: str = "tool"


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """One tool as listed.

    ``verbatim``: the bytes the server sent. ``canonical``: RFC 8785 order, digits kept where a double would change
    them (``canon_algo`` 2 then, else 1; 0 when the bytes cannot be read or several bodies share one name: ``invalid``
    says which). ``sha256`` is of ``canonical``. ``part_shas``: sha256 of each present part's
    canonical form (hex). ``semantic_shas``: digest of what the input and output schemas accept, blind to annotations
    and to order where order means nothing (hex; absent schema: None).
    """

    name: str
    verbatim: bytes
    canonical: bytes
    canon_algo: int
    sha256: bytes
    part_shas: Mapping[str, str]
    semantic_shas: Mapping[str, str | None]
    invalid: Invalid | None = None
    findings: tuple[ConformanceFinding, ...] = ()

    @property
    def meaning(self) -> bytes:
        """Equal for two definitions iff clients that validate and obey hints cannot tell them apart (32 bytes)."""
        return meaning(self.sha256, self.part_shas, self.semantic_shas, invalid=self.invalid is not None)

    def parsed(self) -> Any:
        """The definition as Python values: integers exact, other numbers float or (where a float would lie) Decimal.

        Raises:
            CaptureError: ``canon_algo`` is 0 and the bytes are no readable JSON.
        """
        from driftwatch.capture.canonical import parse

        return parse(self.canonical)


def meaning(
    sha256: bytes, part_shas: Mapping[str, str], semantic_shas: Mapping[str, str | None], *, invalid: bool
) -> bytes:
    """See :attr:`ToolDefinition.meaning`; what is invalid means only itself."""
    if invalid:
        return sha256
    said = (semantic_shas.get(Part.INPUT), semantic_shas.get(Part.OUTPUT), part_shas.get(Part.ANNOTATIONS))
    return hashlib.sha256(repr(said).encode()).digest()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A whole tool list, ``tools`` in its order.

    ``fingerprint`` is independent of the order; equal iff all definitions and findings are equal.
    """

    tools: Mapping[str, ToolDefinition]
    fingerprint: bytes
    findings: tuple[ConformanceFinding, ...] = field(default=())

    @property
    def order(self) -> bytes:
        """sha256 of the tools' names in the order of the list; it says nothing about any definition."""
        return hashlib.sha256("\0".join(self.tools).encode("utf-8", "surrogatepass")).digest()
