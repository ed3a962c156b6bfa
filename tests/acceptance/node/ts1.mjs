// TypeScript SDK 1.x, sessionful streamable HTTP, legacy era. node ts1.mjs PORT [null]
// GET /ctl?op=update changes get_order in every session: the SDK announces that by itself.
import { randomUUID } from "node:crypto";
import express from "express";
import { z } from "zod";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";

const port = Number(process.argv[2]);
const flags = new Set(process.argv.slice(3));
const sessions = new Map();
const orders = [];

function build() {
  const server = new McpServer({ name: "orders-ts1", version: "1.0.0" });
  orders.push(server.registerTool(
    "get_order",
    {
      description: "One order",
      inputSchema: { id: z.string() },
      outputSchema: { id: z.string(), status: flags.has("null") ? z.string().nullable() : z.string() },
    },
    async ({ id }) => ({ content: [], structuredContent: { id, status: "paid" } }),
  ));
  server.registerTool("ping", { description: "Nothing to say" }, async () => ({ content: [] }));
  return server;
}

const app = express();
app.use(express.json());
app.all("/mcp", async (request, response) => {
  const id = request.headers["mcp-session-id"];
  if (id && sessions.has(id)) return sessions.get(id).handleRequest(request, response, request.body);
  if (request.method === "POST" && request.body?.method === "initialize") {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (session) => sessions.set(session, transport),
    });
    await build().connect(transport);
    return transport.handleRequest(request, response, request.body);
  }
  const error = { code: id ? -32001 : -32000, message: id ? "Session not found" : "Bad Request: no session" };
  return response.status(id ? 404 : 400).json({ jsonrpc: "2.0", error, id: null });
});
app.get("/ctl", (request, response) => {
  for (const order of orders) order.update({ outputSchema: { id: z.string(), status: z.string().nullable() } });
  response.json({ ok: true });
});
app.listen(port, "127.0.0.1");
