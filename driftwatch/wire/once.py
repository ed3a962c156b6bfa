"""One guarded POST for what is not a poll: no redirect is followed, nothing is retried, the answer is capped."""

from __future__ import annotations

from collections.abc import Mapping

import httpx2

from driftwatch.errors import WireError
from driftwatch.wire.client import WireClient, refuse_compression, request, unreachable
from driftwatch.wire.urls import checked_url


async def post_once(
    client: WireClient, url: str, headers: Mapping[str, str], content: bytes, *, limit: int
) -> tuple[int, str, Mapping[str, str]]:
    """Status, the first ``limit`` bytes of the body as text, and the headers (lower case) of the answer, 3xx too.

    Raises BadTargetError, BlockedAddressError, UnreachableError (RefusedError, TlsError). The caller sets the deadline.
    """
    address = checked_url(url)
    try:
        response = await client.send(request("POST", address, headers, content))
        try:
            received = {name.lower(): value for name, value in response.headers.items()}
            return response.status_code, await _start(response, limit), received
        finally:
            await response.aclose()
    except httpx2.HTTPError as error:
        raise unreachable(error, address) from error


async def _start(response: httpx2.Response, limit: int) -> str:
    try:
        refuse_compression(response)
    except WireError:
        return "(a compressed answer, not read)"
    kept = b""
    async for piece in response.aiter_raw():
        kept += piece
        if len(kept) >= limit:
            break
    return kept[:limit].decode("utf-8", "replace")
