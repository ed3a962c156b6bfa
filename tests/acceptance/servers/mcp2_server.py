"""mcp 2.x MCPServer, both eras. ``python mcp2_server.py PORT [--flags a,b] [--listen] [--stateless] [--ping S]``.

GET /ctl?flags=a,b swaps the tools in the running process; nothing is announced unless notify=1 and --listen.
"""

from __future__ import annotations

import argparse

import contracts
import uvicorn
from mcp.server import MCPServer, _streamable_http_modern
from mcp.server.subscriptions import InMemorySubscriptionBus, ToolsListChanged
from starlette.requests import Request
from starlette.responses import JSONResponse

parser = argparse.ArgumentParser()
parser.add_argument("port", type=int)
parser.add_argument("--flags", default="")
parser.add_argument("--listen", action="store_true")
parser.add_argument("--stateless", action="store_true")
parser.add_argument("--ping", type=float, default=15.0, help="seconds between keep-alives of held streams")
options = parser.parse_args()

_streamable_http_modern._SSE_PING_INTERVAL = options.ping
bus = InMemorySubscriptionBus()
server = MCPServer("orders", subscriptions=bus if options.listen else False)
served: list[str] = []


def deploy(flags: str) -> None:
    for name in served:
        server.remove_tool(name)
    served.clear()
    for name, description, function in contracts.tools(frozenset(filter(None, flags.split(",")))):
        server.add_tool(function, name=name, description=description)
        served.append(name)


@server.custom_route("/ctl", methods=["GET"])
async def ctl(request: Request) -> JSONResponse:
    deploy(request.query_params.get("flags", ""))
    if request.query_params.get("notify"):
        await bus.publish(ToolsListChanged())
    return JSONResponse({"tools": served})


deploy(options.flags)
uvicorn.run(
    server.streamable_http_app(stateless_http=options.stateless),
    host="127.0.0.1",
    port=options.port,
    log_level="warning",
)
