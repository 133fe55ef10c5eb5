// The whole application that docs/from-socket-io.md names: docs/examples/board.
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";

import { RawClient } from "../raw-client.ts";
import { serving } from "./worker.ts";
import { tokenFor } from "./painters.ts";
import { PacketType } from "../../wire/wire-client.ts";

const fetcher = serving(env.BOARD);
const LINE = [0, 0, 1, 1];

async function enter(room: string, user: string): Promise<RawClient> {
  const client = await RawClient.open({ room, fetcher });
  await client.connect({ token: await tokenFor(user, { name: user.toUpperCase() }), color: "red" });
  return client;
}

/** Everything that was drawn. */
const drawn = (client: RawClient): unknown[][] =>
  client.packets.flatMap(({ type, id, data }) =>
    type === PacketType.EVENT && id === undefined ? [data as unknown[]] : [],
  );

it("painters see the lines and departures of the others; a call from outside draws, too", async () => {
  const [ada, ben] = [await enter("plans", "ada"), await enter("plans", "ben")];
  expect(await ada.ask("draw", LINE)).toEqual({ ok: true });
  await env.BOARD.getByName("plans").draw([1, 1, 2, 2]);
  ada.close();
  await ben.receives("left");
  expect(drawn(ben)).toEqual([
    ["draw", LINE, "red"],
    ["draw", [1, 1, 2, 2], "black"],
    ["left", "ADA"],
  ]);
});

it("a painter may ask for no answer", async () => {
  const [ada, ben] = [await enter("quiet-plans", "ada"), await enter("quiet-plans", "ben")];
  ada.emit("draw", LINE);
  await ben.receives("draw");
  expect(await ada.ask("draw", LINE)).toEqual({ ok: true });
});

it("erased, a board closes all connections, and serves the clients that come next", async () => {
  const [ada, stranger] = [await enter("old-plans", "ada"), await RawClient.open({ room: "old-plans", fetcher })];
  const board = env.BOARD.getByName("old-plans");
  for (let times = 0; times < 2; times++) await board.clear();
  expect([await ada.closes(), await stranger.closes()]).toEqual([
    { code: 1012, reason: "service restart" },
    { code: 1012, reason: "service restart" },
  ]);
  const ben = await enter("old-plans", "ben");
  await board.draw([1, 1, 2, 2]);
  expect(await ben.receives("draw")).toEqual([[1, 1, 2, 2]]);
});
