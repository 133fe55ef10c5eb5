// A Worker whose classes have the names that a minifier gives them: objects find others of their class all the same.
import path from "node:path";

import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { createTestHarness } from "wrangler";

import { ask, next, open } from "./stock-clients.ts";

const server = createTestHarness({
  workers: [{ configPath: path.join(import.meta.dirname, "minified", "wrangler.toml") }],
});
let url: string;

beforeAll(async () => {
  vi.stubEnv("CLOUDFLARE_CF_FETCH_ENABLED", "false");
  url = (await server.listen()).url.origin;
});

afterAll(() => server.close());

it("its classes have other names than its exports", async () => {
  const names = (await (await fetch(`${url}/classes`)).json()) as string[];
  expect(names).toHaveLength(2);
  for (const name of names) expect(name).not.toMatch(/RaceObject|TeamRoom/);
});

it("SIO-12: serverSideEmit reaches the objects of the class", async () => {
  const [fan, ada] = ["league", "race-1"].map((room) =>
    open(url, { path: `/rooms/${room}/socket.io`, auth: { name: room === "league" ? "fan" : "ada" } }),
  );
  await Promise.all([next(fan!, "connect"), next(ada!, "connect")]);
  const scored = new Promise((resolve) => void fan!.once("scored", (...args: unknown[]) => resolve(args)));
  ada!.emit("finish", 3);
  expect(await scored).toEqual(["race-1", "ada", 3]);
});

it("a chat room needs no binding CHAT_ROOM", async () => {
  const ada = open(url, { path: "/teams/rooms/lounge/socket.io" });
  await next(ada, "welcome");
  expect(await ask(ada, "chat-message", { content: "Hello!" })).toMatchObject({ ok: true, seq: 1 });
});
