// The board in workerd: real objects, real storage, and an eviction.
import { env, exports } from "cloudflare:workers";
import { evict, openRawClient, type RawClient } from "parley-rooms/testing";
import { expect, it } from "vitest";

import type { Line } from "../src/events.ts";

const LINE: Line = [0, 0, 1, 1];
const BACK: Line = [1, 1, 0, 0];

async function enter(board: string): Promise<RawClient> {
  const client = await openRawClient({ fetcher: exports.default, room: board });
  await client.connect();
  return client;
}

it("shows a line to all painters at the board, and its lines to a new one", async () => {
  const [ada, ben] = [await enter("plans"), await enter("plans")];
  expect(await ada.ask("draw", LINE)).toEqual({ ok: true });
  expect(await ben.receives("draw")).toEqual([LINE]);
  const eve = await enter("plans");
  expect(await eve.receives("board")).toEqual([[LINE]]);
});

it("takes no line that is none", async () => {
  const ada = await enter("nonsense");
  expect(await ada.ask("draw", ["here", "there"])).toEqual({ ok: false });
});

it("takes a line from a painter who asks for no answer", async () => {
  const [ada, ben] = [await enter("quiet"), await enter("quiet")];
  ada.emit("draw", LINE);
  expect(await ben.receives("draw")).toEqual([LINE]);
  expect(await ada.ask("draw", BACK)).toEqual({ ok: true });
});

it("keeps its lines and its people while it sleeps", async () => {
  const [ada, ben] = [await enter("sleepy"), await enter("sleepy")];
  await ada.ask("draw", LINE);
  await evict(env.BOARD.getByName("sleepy"));
  // The same connections, to a board that has forgotten everything but its storage.
  expect(await ada.ask("draw", BACK)).toEqual({ ok: true });
  expect(await ben.receives("draw", 2)).toEqual([LINE, BACK]);
  const eve = await enter("sleepy");
  expect(await eve.receives("board")).toEqual([[LINE, BACK]]);
});
