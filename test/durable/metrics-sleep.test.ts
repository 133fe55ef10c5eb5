// Tests that counters survive sleep, the room's and the lobby's. A file of its own: a busy lobby waits for more reports before
// it stores, and a test would have to wait for that. MET-2, MET-3
import { evictDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { expect, it, vi } from "vitest";

import { lobbyOf } from "../../src/protocol/room-list.ts";
import { expositionOf, type Exposition } from "../host/exposition.ts";
import { callApi } from "./api-caller.ts";
import { ORIGIN } from "./raw-client.ts";
import { freshRoom, isArmed, join, Sleeper } from "./rooms.ts";

const scrape = async (): Promise<Exposition> =>
  expositionOf(await (await exports.default.fetch(new Request(new URL("/metrics", ORIGIN)))).text());

it("outlives the sleep of the lobby, and never becomes less: MET-3", async () => {
  const room = freshRoom();
  await callApi("POST", `/api/rooms/${room}/messages`, { body: { content: "hello" } });
  const postedIn = (exposition: Exposition) => exposition.valueOf("parley_top_room_messages_posted_total", { room });
  await vi.waitFor(async () => expect(postedIn(await scrape())).toBe(1), { interval: 200 });
  const before = (await scrape()).valueOf("parley_messages_posted_total")!;
  await evictDurableObject(env.LOBBY.getByName(lobbyOf("any", 1)));
  const after = await scrape();
  expect(after.valueOf("parley_messages_posted_total")).toBe(before);
  expect(postedIn(after)).toBe(1);
});

it("an alarm that a room sets before it falls asleep is counted: MET-2", async () => {
  const room = freshRoom();
  const alarmsSet = async (): Promise<number> => (await scrape()).valueOf("parley_alarms_set_total") ?? 0;
  const before = await alarmsSet();
  const ada = await join(room, "ada");
  await isArmed(room);
  const sleeper = new Sleeper(room);
  await sleeper.sleep();
  await ada.ask("chat-message", { content: "hello" });
  ada.close();
  await vi.waitFor(async () => expect(await alarmsSet()).toBeGreaterThan(before), { interval: 200 });
});
