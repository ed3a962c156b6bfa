// TypeScript SDK 2.x, both eras from one handler. node ts2.mjs PORT [null]
// GET /ctl?op=null changes get_order; with notify=1 it says so.
import { createServer } from "node:http";
import { z } from "zod";
import { McpServer, createMcpHandler } from "@modelcontextprotocol/server";
import { toNodeHandler } from "@modelcontextprotocol/node";

const port = Number(process.argv[2]);
const flags = new Set(process.argv.slice(3));
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: "orders-ts2", version: "1.0.0" });
  server.registerTool(
    "get_order",
    {
      description: "One order",
      inputSchema: z.object({ id: z.string() }),
      outputSchema: z.object({ id: z.string(), status: flags.has("null") ? z.string().nullable() : z.string() }),
    },
    async ({ id }) => ({ content: [], structuredContent: { id, status: "paid" } }),
  );
  server.registerTool(
    "list_ids",
    { description: "An array root", inputSchema: z.object({}), outputSchema: z.array(z.number().int()) },
    async () => ({ content: [], structuredContent: [1] }),
  );
  return server;
});
const serve = toNodeHandler(handler);
createServer((request, response) => {
  const url = new URL(request.url, "http://localhost");
  if (url.pathname !== "/ctl") return serve(request, response);
  flags.add(url.searchParams.get("op"));
  if (url.searchParams.get("notify")) handler.notify.toolsChanged();
  return response.end("{}");
}).listen(port, "127.0.0.1");
