// TypeScript SDK 2.x, both eras from one handler. node ts2.mjs PORT [null]
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
createServer(toNodeHandler(handler)).listen(port, "127.0.0.1");
