// The board in workerd: real objects, real storage, and an eviction.
import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";

import type { Line } from "../src/events.ts";
import { Client } from "./client.ts";

const LINE: Line = [0, 0, 1, 1];

it("shows a line to everybody at the board, and what is on it to those who come", async () => {
  const [ada, ben] = [await Client.enter("plans"), await Client.enter("plans")];
  expect(await ada.ask("draw", LINE)).toEqual({ ok: true });
  expect(await ben.event("draw")).toEqual(LINE);
  const eve = await Client.enter("plans");
  expect(await eve.event("board")).toEqual([LINE]);
});

it("takes no line that is none", async () => {
  const ada = await Client.enter("nonsense");
  expect(await ada.ask("draw", ["here", "there"])).toEqual({ ok: false });
});

it("keeps its lines and its people while it sleeps", async () => {
  const [ada, ben] = [await Client.enter("sleepy"), await Client.enter("sleepy")];
  await ada.ask("draw", LINE);
  await evictDurableObject(env.BOARD.getByName("sleepy"));
  // The same connections, to a board that has forgotten everything but its storage.
  expect(await ada.ask("draw", [1, 1, 0, 0])).toEqual({ ok: true });
  expect(await ben.event("draw")).toEqual(LINE);
  expect(await ben.event("draw")).toEqual([1, 1, 0, 0]);
  const eve = await Client.enter("sleepy");
  expect(await eve.event("board")).toEqual([LINE, [1, 1, 0, 0]]);
});
