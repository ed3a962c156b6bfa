// What the real TypeScript clients make of tool lists. node lists.mjs URL…
// JSON on stdout: {client: [names, or null where the whole list is lost, …], …}, in the order of the URLs.
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from "@modelcontextprotocol/client";

const info = { name: "lists", version: "1" };
const modern = { versionNegotiation: { mode: { pin: "2026-07-28" } } };
const legacy = { versionNegotiation: { mode: "legacy" } };
const clients = {
  ts1: (url) => [new Client1(info), new Http1(url)],
  "ts2 legacy": (url) => [new Client2(info, legacy), new Http2(url)],
  "ts2 modern": (url) => [new Client2(info, modern), new Http2(url)],
};
console.warn = () => {};
console.error = () => {};

async function names(make, url) {
  const [client, transport] = make(new URL(url));
  try {
    await client.connect(transport);
    return (await client.listTools()).tools.map((tool) => tool.name);
  } catch {
    return null;
  } finally {
    await client.close();
  }
}

const found = {};
for (const [client, make] of Object.entries(clients)) {
  found[client] = [];
  for (const url of process.argv.slice(2)) found[client].push(await names(make, url));
}
console.log(JSON.stringify(found));
process.exit(0);
