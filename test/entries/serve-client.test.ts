// The client's file in a Worker that serves it, as its bundler makes it of the package's sources.
import path from "node:path";

import { build, type Plugin } from "esbuild";
import { expect, it } from "vitest";

import type { serveClient } from "../../src/worker/connect/serve-client.ts";

type Ask = (address: string, headers?: Record<string, string>) => Response;

async function served(...plugins: Plugin[]): Promise<Ask> {
  const { outputFiles } = await build({
    stdin: {
      contents: 'export { serveClient } from "parley-rooms/serve-client";',
      resolveDir: path.join(import.meta.dirname, "..", ".."),
    },
    bundle: true,
    write: false,
    format: "esm",
    conditions: ["parley-source", "workerd"],
    plugins,
  });
  const url = `data:text/javascript;base64,${Buffer.from(outputFiles[0]!.contents).toString("base64")}`;
  const { serveClient: serve } = (await import(url)) as { serveClient: typeof serveClient };
  return (address, headers = {}) => serve(new Request(`https://board.example.com${address}`, { headers }));
}

/** Runs the file of an import of text, as bundlers do that do not know such imports. */
const running: Plugin = {
  name: "running",
  setup: (bundling) => bundling.onLoad({ filter: /socket\.io\.js$/ }, () => ({ contents: "export default () => {};" })),
};

it("is served at the address that it has on Node, behind any path", async () => {
  const ask = await served();
  for (const address of ["/socket.io/socket.io.js", "/boards/socket.io/socket.io.js?v=2"]) {
    const answer = ask(address);
    expect([answer.status, answer.headers.get("Content-Type")]).toEqual([200, "text/javascript; charset=utf-8"]);
    expect(await answer.text()).toMatch(/^\/\*!\n \* Socket\.IO v4[^]*io = /);
    const again = ask(address, { "If-None-Match": `W/${answer.headers.get("ETag")!}` });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    expect(ask(address, { "If-None-Match": '"4.0.0"' }).status).toBe(200);
  }
  expect([ask("/").status, await ask("/").text()]).toEqual([404, expect.stringContaining("No such address")]);
  expect(await ask("/socket.io/socket.io.esm.min.js").text()).toContain("bundle socket.io-client");
});

it("of a bundler that cannot import texts: 404, which says what to do", async () => {
  const answer = (await served(running))("/socket.io/socket.io.js");
  expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining("bundle socket.io-client")]);
});
