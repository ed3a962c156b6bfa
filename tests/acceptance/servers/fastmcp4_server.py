"""fastmcp 4, both eras; runs in a virtual environment of its own. `fastmcp4_server.py PORT [--flags a,b] [--ping S]`.

GET /ctl?flags=a,b swaps the tools in the running process. ``--ping``: seconds between keep-alives of held streams.
"""

from __future__ import annotations

import argparse

import contracts
import uvicorn
from fastmcp import FastMCP
from fastmcp.tools import Tool
from sse_starlette import EventSourceResponse
from starlette.requests import Request
from starlette.responses import JSONResponse

parser = argparse.ArgumentParser()
parser.add_argument("port", type=int)
parser.add_argument("--flags", default="")
parser.add_argument("--ping", type=int, default=15)
options = parser.parse_args()

server = FastMCP("orders")
served: list[str] = []
EventSourceResponse.DEFAULT_PING_INTERVAL = options.ping


def deploy(flags: str) -> None:
    for name in served:
        server.local_provider.remove_tool(name)
    served.clear()
    for name, description, function in contracts.tools(frozenset(filter(None, flags.split(",")))):
        server.add_tool(Tool.from_function(function, name=name, description=description))
        served.append(name)


@server.custom_route("/ctl", methods=["GET"])
async def ctl(request: Request) -> JSONResponse:
    deploy(request.query_params.get("flags", ""))
    return JSONResponse({"tools": served})


deploy(options.flags)
uvicorn.run(server.http_app(), host="127.0.0.1", port=options.port, log_level="warning")
