"""A small TCP relay before one or two servers, which can do to connections what networks and balancers do."""

from __future__ import annotations

import contextlib
import itertools
import socket
import threading
from collections.abc import Callable, Sequence


class Relay:
    """``backends`` take turns, one connection each. ``swallow``: nothing is passed on any more, nothing is closed."""

    def __init__(self, backends: Sequence[int]) -> None:
        self._turns = itertools.cycle(backends)
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        self._deaf: set[socket.socket] = set()
        self._start(self._accept)

    def swallow(self) -> None:
        """Every connection that exists now becomes half-open; new ones work."""
        self._deaf.update(end for pair in self._pairs for end in pair)

    def cut(self) -> None:
        """Close every connection that exists now, as a proxy does with idle ones."""
        for pair in list(self._pairs):
            for end in pair:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Stop."""
        self._listener.close()
        self.cut()
        for pair in self._pairs:
            for end in pair:
                end.close()

    def _start(self, run: Callable[..., None], *arguments: socket.socket) -> None:
        threading.Thread(target=run, args=arguments, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", next(self._turns)))
            except OSError:
                client.close()
                continue
            self._pairs.append((client, server))
            self._start(self._pump, client, server)
            self._start(self._pump, server, client)

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if source in self._deaf:
                    return
                sink.sendall(data)
        if source not in self._deaf:
            with contextlib.suppress(OSError):
                sink.shutdown(socket.SHUT_WR)
