// The tour walks a newcomer through everything; each of its steps fails where what came back is not as it should be.
import { expect, inject, it } from "vitest";

import { freePort, ProcessGroup, TEST_SECRET } from "./dev-server.ts";

const tour = (url: string): ProcessGroup =>
  new ProcessGroup({ args: ["scripts/tour.ts", "--url", url], env: { JWT_SECRET: TEST_SECRET } });

it("npm run tour goes through all of it", { timeout: 120_000 }, async () => {
  const walk = tour(inject("serverUrl"));
  const code = await walk.exit();
  expect([code, walk.stderr]).toEqual([0, ""]);
  expect(walk.stdout).toContain("That was all of it.");
  expect(walk.stdout.match(/^# /gm)?.length).toBeGreaterThan(5);
});

it("npm run tour says how to start a server where there is none", async () => {
  const walk = tour(`http://127.0.0.1:${await freePort()}`);
  expect(await walk.exit()).toBe(1);
  expect(walk.stderr).toMatch(/^No server answers at .*npm start\n$/);
});
