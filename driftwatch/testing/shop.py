"""The demo's MCP server "shop": a real mcp 2.x server whose contract can be moved one step at a time.

It is built with ``subscriptions=False``: by default the SDK declares listChanged in the modern era merely because it
serves subscriptions/listen. This one promises no announcement, and gives none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from mcp.server import MCPServer
from pydantic import BaseModel, ConfigDict

#: what each step does to the contract, in order; a server at step n has done the first n
STEPS = ("reword search", "an optional input for list_orders", "status of get_order may be null")


class Order(BaseModel):
    """An order."""

    id: str
    status: str
    total: float


class OrderOrPending(BaseModel):
    """An order."""

    # its title and its words are those of Order: nobody is told that ``status`` may be null
    model_config = ConfigDict(title="Order")

    id: str
    status: str | None
    total: float


def search(query: str) -> list[str]:
    """Ids of the orders that match."""
    return [f"A-{len(query)}"]


def get_order(order_id: str) -> Order:
    """One order."""
    return Order(id=order_id, status="paid", total=12.5)


def get_order_or_pending(order_id: str) -> OrderOrPending:
    """One order."""
    return OrderOrPending(id=order_id, status=None, total=12.5)


def list_orders(customer: str) -> list[str]:
    """Ids of a customer's orders."""
    return [f"{customer}-1"]


def list_orders_since(customer: str, since: str = "2026-01-01") -> list[str]:
    """Ids of a customer's orders."""
    return [f"{customer}-1 since {since}"]


def track_parcel(parcel_id: str) -> str:
    """Where a parcel is."""
    return f"{parcel_id}: on its way"


def refund(order_id: str, amount: float) -> bool:
    """Pay money back."""
    return bool(order_id) and amount > 0


def opening_hours(weekday: int) -> list[str]:
    """When the shop is open."""
    return ["09:00", "18:00"] if weekday < 6 else []


#: the SDK names the schemas of arguments after the function: what replaces one takes its name too
list_orders_since.__name__, get_order_or_pending.__name__ = list_orders.__name__, get_order.__name__


def tools(step: int) -> dict[str, tuple[Callable[..., Any], str]]:
    """Function and description of every tool after ``step`` steps."""
    return {
        "search": (search, "Find orders by any word in them." if step >= 1 else "Ids of the orders that match."),
        "list_orders": (list_orders_since if step >= 2 else list_orders, "Ids of a customer's orders."),
        "get_order": (get_order_or_pending if step >= 3 else get_order, "One order."),
        "track_parcel": (track_parcel, "Where a parcel is."),
        "refund": (refund, "Pay money back."),
        "opening_hours": (opening_hours, "When the shop is open."),
    }


class Shop:
    """The running server. ``move_to`` changes its tools in the running process and says nothing."""

    def __init__(self, port: int, step: int = 0) -> None:
        self.port, self.step = port, step
        self.url = f"http://127.0.0.1:{port}/mcp"
        self._server = MCPServer("shop", version="2.3.1", subscriptions=False)
        self._served: list[str] = []
        self.move_to(step)

    def move_to(self, step: int) -> None:
        """Serve the contract of a step from now on."""
        for name in self._served:
            self._server.remove_tool(name)
        for name, (function, description) in tools(step).items():
            self._server.add_tool(function, name=name, description=description)
        self._served = list(tools(step))
        self.step = step

    async def serve(self) -> None:
        """Serve until cancelled."""
        app = self._server.streamable_http_app()
        config = uvicorn.Config(app, host="127.0.0.1", port=self.port, log_config=None, timeout_graceful_shutdown=1)
        server = _Quiet(config)
        serving = asyncio.create_task(server.serve())
        try:
            await asyncio.shield(serving)
        finally:
            server.should_exit = True
            await serving


class _Quiet(uvicorn.Server):
    """uvicorn without its own signal handlers: the service decides when the demo ends."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone."""
        yield
