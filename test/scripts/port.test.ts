// The port of a local server: as PORT names it, or a free one that stays so until its server starts.
import { createServer } from "node:net";
import { expect, it } from "vitest";

import { freePort, readPort } from "../../scripts/port.ts";

const HOST = "127.0.0.1";

it("a free port is given once, and is none that an outgoing connection may be lent", async () => {
  const ports = await Promise.all(Array.from({ length: 200 }, () => freePort(HOST)));
  expect(new Set(ports).size).toBe(200);
  expect(Math.max(...ports)).toBeLessThan(32_768);
  expect(Math.min(...ports)).toBeGreaterThan(1023);
});

it("a free port can be opened", async () => {
  const port = await freePort(HOST);
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, HOST, resolve));
  await new Promise((resolve) => server.close(resolve));
});

it.each(["abc", "0", "70000", "80.5"])("PORT=%s is refused, and named", (text) => {
  expect(() => readPort(text)).toThrow(`PORT must be a number from 1 to 65535, not "${text}".`);
});

it("without PORT it is 8787", () => {
  expect(readPort("")).toBe(8787);
});
