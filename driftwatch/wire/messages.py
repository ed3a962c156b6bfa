"""JSON-RPC messages as bytes: what we send, and as much of the answer as a poll needs. Pure.

Tools are never parsed here. A result stays the bytes the server sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import msgspec

from driftwatch.safe_text import safe_text
from driftwatch.wire.errors import BadJsonError, BadResultError, NotMcpError, TooDeepError

MAX_DEPTH: Final = 64
MAX_NODES: Final = 200_000
LIST_CHANGED: Final = "notifications/tools/list_changed"
ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"
METHOD_NOT_FOUND: Final = -32601
INTERNAL_ERROR: Final = -32603

_STRUCTURE = b'"[]{},'
_NOT_STRUCTURE = bytes(set(range(256)) - set(_STRUCTURE))
_AS_ARRAYS = bytes.maketrans(b"{}", b"[]")
_ESCAPE = re.compile(rb"\\(?:u([dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL)
_MASK = b"\xff\xfe"  # can occur in no valid UTF-8
_MASKED = re.compile(re.escape(_MASK) + rb"([0-9a-fA-F]{4})")


Parts = TypeVar("Parts", bound=msgspec.Struct)


class Message(msgspec.Struct):
    """One JSON-RPC message, its members still bytes (empty: absent)."""

    id: msgspec.Raw = msgspec.Raw()
    method: msgspec.Raw = msgspec.Raw()
    params: msgspec.Raw = msgspec.Raw()
    result: msgspec.Raw = msgspec.Raw()
    error: msgspec.Raw = msgspec.Raw()

    def is_list_changed(self) -> bool:
        """True for the notification that the tool list changed."""
        return self._notifies(LIST_CHANGED)

    def is_acknowledgement(self) -> bool:
        """True for the first frame of a subscription, which says what the server will deliver."""
        return self._notifies(ACKNOWLEDGED)

    def honours_tools(self) -> bool:
        """True when an acknowledgement promises list_changed of tools."""
        params = value(self.params) if bytes(self.params) else None
        honoured = params.get("notifications") if isinstance(params, dict) else None
        return isinstance(honoured, dict) and honoured.get("toolsListChanged") is True

    def _notifies(self, method: str) -> bool:
        return bool(bytes(self.method)) and not bytes(self.id) and value(self.method) == method

    def answers(self, request_id: int) -> bool:
        """True when this answers our request; ids that came back as ``1.0`` or ``"1"`` pass, as in the SDKs."""
        raw = bytes(self.id)
        if raw == b"%d" % request_id:
            return True
        return bool(raw) and value(raw) in (request_id, str(request_id)) and raw != b"true"

    def error_object(self) -> bytes:
        """The error, empty when there is none (some servers send ``"error": null`` beside a result)."""
        error = bytes(self.error)
        return b"" if error == b"null" else error


@dataclass(frozen=True, slots=True)
class RpcFailure:
    """A JSON-RPC error as the server sent it; ``message`` is safe to show, ``data`` is whatever it was."""

    code: int
    message: str
    data: Any = None


def request(method: str, params: Mapping[str, Any], request_id: int) -> bytes:
    """A JSON-RPC request."""
    return msgspec.json.encode({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})


def notification(method: str) -> bytes:
    """A JSON-RPC notification without parameters."""
    return msgspec.json.encode({"jsonrpc": "2.0", "method": method})


def read_messages(body: bytes) -> list[Message]:
    """The messages in a body: one object, or an array of them (batches existed until 2025-06-18).

    Raises BadJsonError, TooDeepError (deeper than 64, or over 200 000 values), NotMcpError for JSON that is neither.
    """
    check_shape(body)
    first = body.lstrip(b" \t\r\n")[:1]
    if not first:
        raise NotMcpError("The answer is empty.")
    try:
        return split_list(body, Message) if first == b"[" else [split(body, Message)]
    except BadResultError:
        raise NotMcpError("The answer is JSON, but no JSON-RPC message.") from None


def split(body: bytes | msgspec.Raw, shape: type[Parts]) -> Parts:
    """An object taken apart into the members ``shape`` names (all msgspec.Raw), each the bytes that were sent.

    Raises BadJsonError when it is no JSON, BadResultError when it is JSON of another shape.
    """
    decoded, masked = _decode(bytes(body), shape)
    parts: Parts = decoded
    return _unmasked(parts) if masked else parts


def split_list(body: bytes | msgspec.Raw, shape: type[Parts]) -> list[Parts]:
    """Like ``split``, for an array of such objects."""
    items, masked = _decode(bytes(body), list[shape])  # type: ignore[valid-type]  # a run-time type for msgspec
    return [_unmasked(item) for item in items] if masked else items


def split_array(body: bytes | msgspec.Raw) -> list[bytes]:
    """The entries of an array, each verbatim. Raises as ``split`` does."""
    items, masked = _decode(bytes(body), list[msgspec.Raw])
    return [_unmask(bytes(item)) for item in items] if masked else [bytes(item) for item in items]


def split_object(body: bytes | msgspec.Raw) -> dict[str, bytes]:
    """The members of an object, each verbatim. Raises as ``split`` does."""
    members, masked = _decode(bytes(body), dict[str, msgspec.Raw])
    return {name: _unmask(bytes(raw)) if masked else bytes(raw) for name, raw in members.items()}


def value(body: bytes | msgspec.Raw) -> Any:
    """The Python value of a small piece, such as a cursor or serverInfo. Raises BadJsonError, TooDeepError."""
    raw = bytes(body)
    try:
        return msgspec.json.decode(raw)
    except RecursionError:
        raise TooDeepError(f"The JSON is nested deeper than {MAX_DEPTH}.") from None
    except msgspec.DecodeError as error:
        if _surrogates(raw):
            return _lenient(raw)
        raise BadJsonError(_malformed(error)) from None


def failure(error: bytes | msgspec.Raw) -> RpcFailure:
    """A JSON-RPC error object, whatever its shape really is."""
    fields = value(error)
    if not isinstance(fields, dict):
        return RpcFailure(0, shown(str(fields)))
    code = fields.get("code")
    number = code if isinstance(code, int) and not isinstance(code, bool) else 0
    return RpcFailure(number, shown(str(fields.get("message", ""))), fields.get("data"))


def shown(text: str) -> str:
    """Server text for an error message: one line, safe, short."""
    return safe_text(text[:300], keep_newlines=False)


def check_shape(body: bytes) -> None:
    """Raises TooDeepError over 64 levels or 200 000 values; what is no JSON passes, the parser will say so.

    Costs no parse: strings go, then the innermost pairs of brackets, level by level.
    """
    skeleton = _skeleton(body)
    nodes = skeleton.count(b",") + skeleton.count(b"[") + skeleton.count(b"{") + 1
    if nodes > MAX_NODES:
        raise TooDeepError(f"The JSON holds more than {MAX_NODES} values.")
    brackets = skeleton.translate(_AS_ARRAYS, b",")
    for _ in range(MAX_DEPTH):
        if not brackets:
            return
        brackets = brackets.replace(b"[]", b"")
    if b"[]" in brackets:
        raise TooDeepError(f"The JSON is nested deeper than {MAX_DEPTH}.")


def _skeleton(body: bytes) -> bytes:
    """Brackets and commas outside strings."""
    if b"\\" in body:
        body = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    outside = body.translate(None, _NOT_STRUCTURE).split(b'"')[::2]
    return b"".join(outside)


def _decode(body: bytes, shape: type[Any]) -> tuple[Any, bool]:
    """The value and whether it is masked: msgspec refuses lone surrogates, which must not cost the whole list."""
    try:
        return msgspec.json.decode(body, type=shape), False
    except RecursionError:
        raise TooDeepError(f"The JSON is nested deeper than {MAX_DEPTH}.") from None
    except msgspec.ValidationError as error:
        raise BadResultError(f"The answer has an unexpected shape: {shown(str(error))}") from None
    except msgspec.DecodeError as error:
        if not _surrogates(body):
            raise BadJsonError(_malformed(error)) from None
    try:
        return msgspec.json.decode(_ESCAPE.sub(_mask, body), type=shape), True
    except msgspec.ValidationError as error:
        raise BadResultError(f"The answer has an unexpected shape: {shown(str(error))}") from None
    except msgspec.DecodeError as error:
        raise BadJsonError(_malformed(error)) from None


def _surrogates(body: bytes) -> bool:
    """True when the body is UTF-8 text with surrogate escapes, so masking them can be undone."""
    if b"\\ud" not in body and b"\\uD" not in body:
        return False
    return _MASK not in body


def _mask(match: re.Match[bytes]) -> bytes:
    return _MASK + match[1] if match[1] else match[0]


def _unmask(piece: bytes) -> bytes:
    return _MASKED.sub(rb"\\u\1", piece)


def _unmasked(parts: Parts) -> Parts:
    for name in parts.__struct_fields__:
        setattr(parts, name, msgspec.Raw(_unmask(bytes(getattr(parts, name)))))
    return parts


def _lenient(raw: bytes) -> Any:
    try:
        return json.loads(raw, parse_constant=_no_constant)
    except ValueError as error:
        raise BadJsonError(_malformed(error)) from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _malformed(error: Exception) -> str:
    return f"The answer is malformed JSON: {shown(str(error))}"
