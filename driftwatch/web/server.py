"""The web role's listening socket and the HTTP server behind it."""

from __future__ import annotations

import contextlib
import gc
import socket
from collections.abc import Iterator
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from driftwatch.errors import SettingsError

GRACE_SECONDS: Final = 5


def bind(host: str, port: int) -> socket.socket:
    """A listening socket, bound before anything else is started.

    Raises:
        SettingsError: the address is taken, or not ours.
    """
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server((address[0], address[1]), family=family, backlog=1024)
    except OSError as error:
        raise SettingsError(
            f"cannot listen on {host} port {port}: {error.strerror}",
            hint="Another driftwatch may be running; choose another --port.",
        ) from error


class _Server(uvicorn.Server):
    """Leaves the process's signals alone: they belong to all roles."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


class WebServer:
    """Serves an ASGI application until asked to stop: no new connections, open requests get a few seconds."""

    def __init__(self, app: ASGIApp, host: str, port: int, listener: socket.socket | None = None) -> None:
        self._app = app
        self._address = (host, port)
        self._listener = listener
        self._server: _Server | None = None

    async def run(self) -> None:
        """Serve; a later run binds anew, because the server closes its socket.

        Raises:
            SettingsError: see :func:`bind`.
        """
        listener = self._listener or bind(*self._address)
        self._listener = None
        config = uvicorn.Config(
            self._app,
            log_config=None,
            access_log=False,  # request lines hold login links
            lifespan="off",
            ws="none",
            server_header=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        self._server = _Server(config)
        # what was imported never becomes garbage: looking through it again and again held pages up for 200 ms
        gc.collect()
        gc.freeze()
        with listener:
            await self._server.serve(sockets=[listener])

    def stop(self) -> None:
        """Ask :meth:`run` to end."""
        if self._server is not None:
            self._server.should_exit = True
