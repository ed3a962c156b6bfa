// What the real TypeScript clients do. JSON on stdin: [{client: "ts1"|"ts2", era, schema, value?, absent?}, …];
// JSON on stdout: [{refuses: true|false|"tool-lost"|"list-lost", message}, …]. Each evaluation has its own client and,
// over an in-memory transport, a server that says exactly what it is told.
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport as Memory1 } from "@modelcontextprotocol/sdk/inMemory.js";
import { Client as Client2, InMemoryTransport as Memory2 } from "@modelcontextprotocol/client";

const LEGACY = "2025-11-25";
const MODERN = "2026-07-28";
const info = { name: "evaluation", version: "1" };
console.warn = () => {}; // Ajv reports unknown formats
console.error = () => {}; // and the code of what it cannot compile

function answers({ schema, value, absent, era }) {
  const modern = era === "modern";
  const around = (result) => (modern ? { resultType: "complete", ...result } : result);
  const call = { content: [] };
  if (!absent) call.structuredContent = value;
  const tools = [{ name: "judged", inputSchema: { type: "object" }, outputSchema: schema }];
  return {
    initialize: () => ({ protocolVersion: LEGACY, capabilities: { tools: {} }, serverInfo: info }),
    "server/discover": () =>
      around({ supportedVersions: [MODERN], capabilities: { tools: {} }, serverInfo: info, ttlMs: 0, cacheScope: "private" }),
    "tools/list": () => around(modern ? { tools, ttlMs: 0, cacheScope: "private" } : { tools }),
    "tools/call": () => around(call),
  };
}

function serve(transport, replies) {
  transport.onmessage = (message) => {
    if (message.id === undefined) return;
    const reply = replies[message.method];
    const body = reply ? { result: reply() } : { error: { code: -32601, message: "no such method" } };
    transport.send({ jsonrpc: "2.0", id: message.id, ...body });
  };
  return transport.start();
}

function made({ client, era }) {
  if (client === "ts1") return [new Client1(info), Memory1];
  const mode = era === "modern" ? { pin: MODERN } : "legacy";
  return [new Client2(info, { versionNegotiation: { mode } }), Memory2];
}

async function evaluate(question) {
  const [client, Memory] = made(question);
  const [mine, theirs] = Memory.createLinkedPair();
  await serve(theirs, answers(question));
  await client.connect(mine);
  try {
    try {
      await client.listTools();
    } catch (error) {
      return { refuses: "list-lost", message: String(error.message) };
    }
    try {
      await client.callTool({ name: "judged", arguments: {} });
      return { refuses: false, message: "" };
    } catch (error) {
      const message = String(error.message);
      return { refuses: message.includes("has an invalid outputSchema") ? "tool-lost" : true, message };
    }
  } finally {
    await client.close();
  }
}

process.on("unhandledRejection", () => {}); // an asynchronous schema's promise that nobody awaits
let text = "";
for await (const chunk of process.stdin) text += chunk;
const found = [];
for (const question of JSON.parse(text)) found.push(await evaluate(question));
process.stdout.write(JSON.stringify(found));
