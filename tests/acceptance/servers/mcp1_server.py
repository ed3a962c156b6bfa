"""mcp 1.27 FastMCP, legacy era; runs in a virtual environment of its own. `mcp1_server.py PORT [--flags a,b]`.

``--declare``: it says that it announces changes, and never does. ``--ping S``: seconds between keep-alives.
"""

from __future__ import annotations

import argparse

import contracts
import uvicorn
from mcp.server.fastmcp import FastMCP
from mcp.server.lowlevel import NotificationOptions
from sse_starlette import EventSourceResponse
from starlette.requests import Request
from starlette.responses import JSONResponse

parser = argparse.ArgumentParser()
parser.add_argument("port", type=int)
parser.add_argument("--flags", default="")
parser.add_argument("--stateless", action="store_true")
parser.add_argument("--declare", action="store_true")
parser.add_argument("--ping", type=int, default=15)
options = parser.parse_args()

server = FastMCP("orders", port=options.port, stateless_http=options.stateless)
served: list[str] = []
EventSourceResponse.DEFAULT_PING_INTERVAL = options.ping
if options.declare:
    says = server._mcp_server.create_initialization_options
    server._mcp_server.create_initialization_options = lambda: says(NotificationOptions(tools_changed=True))


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
    return JSONResponse({"tools": served})


@server.custom_route("/sessions", methods=["GET"])
async def sessions(request: Request) -> JSONResponse:
    held = server.session_manager._server_instances.values()
    return JSONResponse({"sessions": sum(not transport._terminated for transport in held)})


deploy(options.flags)
uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=options.port, log_level="warning")
