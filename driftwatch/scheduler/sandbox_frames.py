"""What passes between the service and its classifier process: length-prefixed frames of plain data, never code.

Questions are msgpack (definitions hold bytes); answers are canonical JSON, which keeps big numbers exact. The service
decodes answers into its own dataclasses only.
"""

from __future__ import annotations

import struct
from decimal import Decimal
from typing import Any, Final

import msgspec

from driftwatch.capture.canonical import canonical, parse
from driftwatch.capture.model import ToolDefinition
from driftwatch.classify import Policy, Verdict
from driftwatch.classify.tool import Assessment
from driftwatch.classify.verdict import Direction, Root
from driftwatch.wire.facts import Era

HEADER: Final = struct.Struct(">I")
#: what a process says when it has imported everything and the clock of a question may run
READY: Final = b"ready"
MAX_FRAME: Final = 64 * 1024 * 1024


class AssessQuestion(msgspec.Struct, tag="assess", frozen=True):
    """A whole tool's transition."""

    old: ToolDefinition | None
    new: ToolDefinition | None
    era: Era


class ClassifyQuestion(msgspec.Struct, tag="classify", frozen=True):
    """A pair of schemas as canonical JSON; None is an absent schema."""

    old: bytes | None
    new: bytes | None
    direction: Direction
    root: Root
    old_dialect: str | None
    new_dialect: str | None
    policy: Policy


class SchemasQuestion(msgspec.Struct, tag="schemas", frozen=True):
    """Two bare schemas as canonical JSON, taken for a tool's output, its input, or both."""

    old: bytes | None
    new: bytes | None
    directions: tuple[Direction, ...]
    root: Root
    era: Era


Question = AssessQuestion | ClassifyQuestion | SchemasQuestion

_encoder: Final = msgspec.msgpack.Encoder()
_decoder: Final = msgspec.msgpack.Decoder(Question)


def frame(body: bytes) -> bytes:
    """The body with its length before it."""
    return HEADER.pack(len(body)) + body


def encode_question(question: Question) -> bytes:
    """A question as bytes."""
    return _encoder.encode(question)


def decode_question(body: bytes) -> Question:
    """The question in ``body``."""
    return _decoder.decode(body)


def encode_answer(answer: Assessment | Verdict) -> bytes:
    """An answer as bytes."""
    return canonical(msgspec.to_builtins(answer, builtin_types=(Decimal,))).data


def decode_assessment(body: bytes) -> Assessment:
    """The assessment in ``body``; raises msgspec.ValidationError when it is none."""
    return msgspec.convert(parse(body), Assessment)


def decode_verdict(body: bytes) -> Verdict:
    """The verdict in ``body``; raises msgspec.ValidationError when it is none."""
    return msgspec.convert(parse(body), Verdict)


def schema_bytes(schema: Any) -> bytes | None:
    """A schema as canonical JSON; None stays None."""
    return None if schema is None else canonical(schema).data
