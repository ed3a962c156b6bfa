"""Server-sent events, incrementally: bytes in, events out, split anywhere. Pure (WHATWG HTML, 9.2.6)."""

from __future__ import annotations

from dataclasses import dataclass

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Event:
    """One dispatched event. ``data`` is still bytes: JSON is parsed by who knows what to expect."""

    data: bytes
    name: str = "message"
    id: str | None = None


class EventParser:
    """Feed it chunks as they arrive; it answers the events they complete.

    An event that the end of the stream cuts off is never dispatched, as the specification asks. The caller caps the
    bytes it feeds: this keeps no more than it was given.
    """

    def __init__(self) -> None:
        self._line = bytearray()
        self._data: list[bytes] = []
        self._name = ""
        self._id: str | None = None
        self._after_cr = False
        self._first_line = True

    def feed(self, chunk: bytes) -> list[Event]:
        """The events completed by this chunk, in order."""
        if self._after_cr and chunk:
            chunk = chunk.removeprefix(b"\n")  # the other half of a CR LF
            self._after_cr = False
        if not chunk:
            return []
        lines = chunk.splitlines()  # bytes split at CR, LF and CR LF, and nowhere else
        unfinished = lines.pop() if chunk[-1] not in b"\r\n" else b""
        self._after_cr = chunk.endswith(b"\r")
        events = [event for line in lines if (event := self._take_line(line)) is not None]
        self._line += unfinished
        return events

    def _take_line(self, rest: bytes) -> Event | None:
        line = bytes(self._line) + rest if self._line else rest
        self._line.clear()
        if self._first_line:
            self._first_line = False
            line = line.removeprefix(_BOM)
        if not line:
            return self._dispatch()
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._name = value.decode("utf-8", "replace")
        elif field == b"id" and b"\0" not in value:
            self._id = value.decode("utf-8", "replace")
        return None

    def _dispatch(self) -> Event | None:
        data, name = self._data, self._name
        self._data, self._name = [], ""
        if not data:
            return None
        return Event(b"\n".join(data), name or "message", self._id)
