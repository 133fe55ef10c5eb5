// The tour shows a newcomer every feature; each of its steps fails if an answer is not as expected.
import { expect, it } from "vitest";

import { freePort, ProcessGroup, startServer, TEST_SECRET } from "./servers.ts";

const tour = (url: string, settings: Readonly<Record<string, string>> = {}): ProcessGroup =>
  new ProcessGroup({ args: ["scripts/tour.ts", "--url", url], env: { JWT_SECRET: TEST_SECRET, ...settings } });

it("npm run tour runs every step", async () => {
  const url = `http://127.0.0.1:${await freePort()}/hook`;
  const settings = { WEBHOOK_URL: url, WEBHOOK_SECRET: "a-secret-that-only-the-tour-knows" };
  const server = await startServer({ settings });
  try {
    const walk = tour(server.url, settings);
    const code = await walk.exit();
    expect([code, walk.stderr]).toEqual([0, ""]);
    expect(walk.stdout).toContain("That was all of it.");
    expect(walk.stdout.match(/^# .*/gm)).toHaveLength(9);
    expect(walk.stdout).toMatch(/"type":"member.left"/);
  } finally {
    await server.stop();
  }
});

it("npm run tour without a server prints how to start one", async () => {
  const walk = tour(`http://127.0.0.1:${await freePort()}`);
  expect(await walk.exit()).toBe(1);
  expect(walk.stderr).toMatch(/^No server answers at .*npm start\n$/);
});
