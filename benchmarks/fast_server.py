"""A server that answers as fast as it can, so that the client's cost is what is measured: 20 tools, about 28 kB.

Speaks both eras over HTTP/1.1 on asyncio, without a framework. ``python fast_server.py [CERTIFICATE]`` prints its
address: kept connections without a certificate; with one TLS, and every connection is closed after one answer.
"""

from __future__ import annotations

import asyncio
import functools
import json
import ssl
import sys

MODERN = "2026-07-28"


def tool(number: int) -> dict[str, object]:
    """A tool of the usual size."""
    fields = {
        f"field_{i}": {"type": ["string", "null"], "title": f"Field {i}", "description": "What this field says. " * 3}
        for i in range(8)
    }
    schema = {"type": "object", "properties": fields, "required": ["field_0"]}
    return {
        "name": f"tool_{number:02}",
        "description": "Does one thing well. " * 4,
        "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
        "outputSchema": schema,
    }


TOOLS = [tool(number) for number in range(20)]
CAPABILITIES = {"tools": {"listChanged": False}}
COMPLETE = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
INFO = {"name": "fast", "version": "1"}

RESULTS = {
    "initialize": {"protocolVersion": "2025-11-25", "capabilities": CAPABILITIES, "serverInfo": INFO},
    "server/discover": {
        "supportedVersions": [MODERN],
        "capabilities": CAPABILITIES,
        "_meta": {"io.modelcontextprotocol/serverInfo": INFO},
        **COMPLETE,
    },
    "tools/list": {"tools": TOOLS, **COMPLETE},
    "ping": {},
}
BODIES = {method: json.dumps(result) for method, result in RESULTS.items()}


def answer(body: bytes, *, close: bool) -> bytes:
    """The HTTP answer to one JSON-RPC request."""
    last = "connection: close\r\n" if close else ""
    message = json.loads(body)
    if "id" not in message:
        return f"HTTP/1.1 202 Accepted\r\n{last}content-length: 0\r\n\r\n".encode()
    result = BODIES.get(message["method"])
    if result is None:
        text = json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}})
        status = "404 Not Found"
    else:
        text = f'{{"jsonrpc": "2.0", "id": {json.dumps(message["id"])}, "result": {result}}}'
        status = "200 OK"
    payload = text.encode()
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{last}content-length: {len(payload)}\r\n\r\n"
    return head.encode() + payload


async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, close: bool) -> None:
    """Serve one connection."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = 0
            for line in head.split(b"\r\n")[1:]:
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            body = await reader.readexactly(length)
            if head.startswith(b"POST"):
                writer.write(answer(body, close=close))
            else:
                writer.write(b"HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n")
            await writer.drain()
            if close:
                break
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main(certificate: str | None) -> None:
    """Serve until interrupted."""
    tls = None
    if certificate is not None:
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(certificate)
        # Clients that resume a session would not pay what a poll every minute pays.
        tls.options |= ssl.OP_NO_TICKET
        tls.num_tickets = 0
    serve = functools.partial(connection, close=tls is not None)
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls, backlog=512)
    port = server.sockets[0].getsockname()[1]
    print(f"{'http' if tls is None else 'https'}://127.0.0.1:{port}/mcp", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if sys.argv[1:] else None))
