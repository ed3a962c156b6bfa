"""Every page of tools/list over any channel: what makes a walk complete, whatever carries it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from driftwatch.errors import WireError
from driftwatch.wire import messages
from driftwatch.wire.channels import Channel
from driftwatch.wire.errors import IncompleteWalkError, NotServingToolsError, RpcError, ServerError
from driftwatch.wire.facts import EraFacts
from driftwatch.wire.pages import Pages


async def read_pages(channel: Channel, pages: Pages, facts: EraFacts, heard: list[datetime]) -> None:
    """Ask for page after page until the list ends; ``heard`` gets the list_changed that came with the answers.

    Raises the WireError that makes the walk incomplete.
    """
    cursor = await _page(channel, pages, facts, heard, {})
    while cursor is not None:
        cursor = await _page(channel, pages, facts, heard, {"cursor": cursor})


async def _page(
    channel: Channel, pages: Pages, facts: EraFacts, heard: list[datetime], params: Mapping[str, Any]
) -> str | None:
    answer = await channel.ask("tools/list", params)
    heard += answer.list_changed_at
    if answer.result is not None:
        return pages.take(answer.result)
    failure = answer.failure or messages.RpcFailure(0, "no answer")
    if pages.count:
        raise IncompleteWalkError(
            f"Page {pages.count + 1} failed: {failure.message} ({failure.code}).", status=answer.status
        )
    if failure.code == messages.METHOD_NOT_FOUND and not facts.tools_declared:
        raise NotServingToolsError("The server declares no tools and lists none.", status=answer.status)
    raise rpc_error("tools/list", failure, answer.status)


def rpc_error(method: str, failure: messages.RpcFailure, status: int) -> WireError:
    """What a refused request is called."""
    told = f"{method} failed: {failure.message} ({failure.code})."
    if failure.code == messages.INTERNAL_ERROR:
        return ServerError(told, status=status)
    return RpcError(told, rpc_code=failure.code, status=status)
