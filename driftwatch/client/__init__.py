"""The Python client of a running service: typed answers, refusals as exceptions, pages as iterators.

    with Client("http://127.0.0.1:8787", token) as driftwatch:
        for change in driftwatch.changes.every(verdict="breaking", announcement="silent"):
            print(change.server, change.tool, change.headline)

Its shapes are those of the API itself (``driftwatch.web.api.models``); a test compares every method with the API's
description. Methods raise :class:`RefusedError` (with the ``code`` and ``hint`` of the problem document) and
:class:`UnreachableError`.
"""

from __future__ import annotations

from driftwatch.client.client import Client
from driftwatch.client.errors import RefusedError, ServiceError, UnreachableError

__all__ = ["Client", "RefusedError", "ServiceError", "UnreachableError"]
