// Tests which clients are offered recovery, by the headers and the query of their requests: REC-2.
import { expect, it } from "vitest";

import { knowsRecovery } from "../../../src/worker/connect/recovery-clients.ts";

const BROWSER = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/153.0.0.0 Safari/537.36";
const PYTHON = "Python/3.12 aiohttp/3.11";

it.each<[client: string, isOffered: boolean, headers: Record<string, string>, asked?: string]>([
  ["a browser", true, { "User-Agent": BROWSER }],
  ["Node's own WebSocket", true, { "User-Agent": "node" }],
  ["Bun", true, { "User-Agent": "Bun/1.3" }],
  ["Python", false, { "User-Agent": PYTHON }],
  ["Java", false, { "User-Agent": "okhttp/4.12.0" }],
  ["nobody in particular", false, {}],
  ["a browser with recovery=off", false, { "User-Agent": BROWSER }, "off"],
  ["Python with recovery=on", true, { "User-Agent": PYTHON }, "on"],
])("%s: %s", (_client, isOffered, headers, asked) =>
  expect(knowsRecovery(new Request("http://parley.test/", { headers }), asked)).toBe(isOffered),
);
