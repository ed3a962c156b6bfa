"""The tools that the Python acceptance servers serve, as variants of one contract. Works with mcp 1.x and 2.x.

A *deployment* is a set of flags; each flag is one change to the first contract:

    describe    the description of get_order is reworded
    null        get_order.status may be null
    enum        get_order.state may also be "archived"
    optional    get_order.total is no longer required
    argument    search gets a required argument
    remove      list_ids is gone
    add         a new tool track_order
    nonascii    a tool with a name beyond ASCII
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

from pydantic import BaseModel, create_model

Tool = tuple[str, str, Callable[..., Any]]


def _order(flags: frozenset[str]) -> type[BaseModel]:
    status: Any = str | None if "null" in flags else str
    state: Any = Literal["open", "closed", "archived"] if "enum" in flags else Literal["open", "closed"]
    total: Any = (float | None, 0.0) if "optional" in flags else (float, ...)
    return create_model("Order", id=(str, ...), status=(status, ...), state=(state, ...), total=total)


def tools(flags: frozenset[str]) -> Iterator[Tool]:
    """Name, description and function of every tool of a deployment."""
    order = _order(flags)

    def get_order(order_id: str) -> Any:
        return order(id=order_id, status="paid", state="open", total=1.0)

    get_order.__annotations__["return"] = order
    yield "get_order", "One order, reworded" if "describe" in flags else "One order", get_order

    if "argument" in flags:

        def search(query: str, region: str) -> list[str]:
            return [query, region]

        yield "search", "Search orders", search
    else:

        def search_v1(query: str) -> list[str]:
            return [query]

        yield "search", "Search orders", search_v1

    if "remove" not in flags:

        def list_ids(limit: int = 10) -> list[int]:
            return list(range(limit))

        yield "list_ids", "All ids", list_ids

    if "add" in flags:

        def track_order(order_id: str) -> str:
            return order_id

        yield "track_order", "Where it is", track_order

    if "nonascii" in flags:

        def number(zahl: int) -> int:
            return zahl

        yield "zähle_数据", "Counts", number
