// TypeScript SDK 2.x over stdio, both eras. node stdio2.mjs CONTROL
// When the file CONTROL says "null", get_order changes; the SDK announces that by itself.
import { readFileSync } from "node:fs";
import { z } from "zod";
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const control = process.argv[2];
const status = () => (readFileSync(control, "utf8").includes("null") ? z.string().nullable() : z.string());
const shape = () => z.object({ id: z.string(), status: status() });
const orders = [];
let known = readFileSync(control, "utf8");
serveStdio(() => {
  const server = new McpServer({ name: "orders-ts2", version: "1.0.0" });
  orders.push(server.registerTool(
    "get_order",
    { description: "One order", inputSchema: z.object({ id: z.string() }), outputSchema: shape() },
    async ({ id }) => ({ content: [], structuredContent: { id, status: "paid" } }),
  ));
  server.registerTool(
    "list_ids",
    { description: "An array root", inputSchema: z.object({}), outputSchema: z.array(z.number().int()) },
    async () => ({ content: [], structuredContent: [1] }),
  );
  return server;
});
setInterval(() => {
  const now = readFileSync(control, "utf8");
  if (now === known) return;
  known = now;
  for (const order of orders) order.update({ outputSchema: shape() });
}, 50);
