// serverSideEmit between real objects: docs/examples/league.
import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, it, vi } from "vitest";

import { SocketObject } from "../../../src/socketio/object/socket-object.ts";
import { RawClient } from "../raw-client.ts";
import { serving } from "./worker.ts";
import { PacketType } from "../../wire/wire-client.ts";

const fetcher = serving(env.RACE);

afterEach(() => vi.restoreAllMocks());

async function enter(room: string, name: string): Promise<RawClient> {
  const client = await RawClient.open({ room, fetcher });
  await client.connect({ name });
  return client;
}

const scores = (fan: RawClient): unknown[] =>
  fan.packets.flatMap(({ type, data }) => (type === PacketType.EVENT ? [(data as unknown[]).slice(1)] : []));

it("SIO-12: races emit to the league, which slept meanwhile, and it emits to its fans", async () => {
  const [fan, ada, ben] = [await enter("league", "fan"), await enter("race-1", "ada"), await enter("race-2", "ben")];
  ada.emit("finish", 3);
  await fan.receives("scored", 1);
  await evictDurableObject(env.RACE.getByName("league"), { webSockets: "hibernate" });
  ben.emit("finish", 5);
  await fan.receives("scored", 2);
  expect(scores(fan)).toEqual([
    ["race-1", "ada", 3],
    ["race-2", "ben", 5],
  ]);
  expect([...ada.received("scored"), ...ben.received("scored")]).toEqual([]);
});

it("SIO-12: the league asks races, in their order, also without connections", async () => {
  const [fan, ada] = [await enter("league-b", "fan"), await enter("race-3", "ada")];
  ada.emit("finish", 7);
  // A client that gets this has been received before.
  await ada.ask("compare", []);
  await evictDurableObject(env.RACE.getByName("race-3"), { webSockets: "hibernate" });
  expect(await fan.ask("compare", ["race-4", "race-3"])).toEqual([0, 7]);
  expect(await fan.ask("compare", ["no room"])).toEqual({ error: 'there can be no room "no room"' });
});

it("SIO-12: an event of another room is one request, and wakes the object", async () => {
  const ada = await enter("race-5", "ada");
  await evictDurableObject(env.RACE.getByName("league"));
  const heard = vi.spyOn(SocketObject.prototype, "receiveServerSideEvent");
  ada.emit("finish", 3);
  await vi.waitFor(() => expect(heard).toHaveBeenCalledTimes(1));
});
