// TypeScript SDK 1.x over stdio, legacy era. node stdio1.mjs CONTROL
// When the file CONTROL says "null", get_order changes; the SDK announces that by itself.
import { readFileSync } from "node:fs";
import { z } from "zod";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";

const control = process.argv[2];
const server = new McpServer({ name: "orders-ts1", version: "1.0.0" });
const status = () => (readFileSync(control, "utf8").includes("null") ? z.string().nullable() : z.string());
let known = readFileSync(control, "utf8");
const order = server.registerTool(
  "get_order",
  { description: "One order", inputSchema: { id: z.string() }, outputSchema: { id: z.string(), status: status() } },
  async ({ id }) => ({ content: [], structuredContent: { id, status: "paid" } }),
);
setInterval(() => {
  const now = readFileSync(control, "utf8");
  if (now === known) return;
  known = now;
  order.update({ outputSchema: { id: z.string(), status: status() } });
}, 50);
console.log("a line that is no JSON-RPC");
await server.connect(new StdioServerTransport());
process.stdin.on("end", () => process.exit(0));
