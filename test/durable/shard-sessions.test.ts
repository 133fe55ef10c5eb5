// RPC sessions between a big room and its shards, in the runtime: how many calls the platform bills, a session that breaks, and sleep. SHD-14
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, it, vi } from "vitest";

import { RoomShard } from "../../durable/room-shard.ts";
import type { Message } from "../../src/protocol/chat-events.ts";
import { shardName } from "../../src/protocol/shards.ts";
import * as kit from "../kit/testing.ts";
import type { RawClient } from "./raw-client.ts";
import { freshRoom, join, stubOf, useSettings } from "./rooms.ts";

/** With so many shards a session is held for a second after a call. */
/** Sessions that never form would otherwise be waited for in vain. */
const POSTS_MAX = 2000;
const SHARDS = 11;

useSettings({ MAX_MEMBERS: "1", MAX_SHARDS: String(SHARDS), MESSAGE_RATE: "1000", MESSAGE_BURST: "1000" });
afterEach(() => vi.restoreAllMocks());

const shardOf = (room: string, shard: number) => env.ROOM_SHARD.getByName(shardName(room, shard));

interface Hall {
  readonly room: string;
  /** The first one is in the room itself, each other one in a shard. */
  readonly members: readonly RawClient[];
  /** Posts one message after another until it is true. @returns their contents */
  readonly talkUntil: (isTrue: (count: number) => boolean) => Promise<string[]>;
}

async function hall(): Promise<Hall> {
  const room = freshRoom();
  const members: RawClient[] = [];
  for (let i = 0; i <= SHARDS; i++) members.push(await join(room, `user-${i}`));
  let posted = 0;
  const talkUntil: Hall["talkUntil"] = async (isTrue) => {
    const contents: string[] = [];
    while (!isTrue(contents.length)) {
      const content = `${posted++}`;
      expect(await members[0]!.ask("chat-message", { content })).toMatchObject({ ok: true });
      contents.push(content);
      expect(contents.length).toBeLessThan(POSTS_MAX);
    }
    return contents;
  };
  return { room, members, talkUntil };
}

const heard = async (member: RawClient, count: number): Promise<string[]> =>
  (await member.receives<Message>("chat-message", count)).map(({ content }) => content);

it("a busy room makes far more calls to its shards than are billed, and everybody gets everything once and in order", async () => {
  const { members, talkUntil } = await hall();
  const billed = vi.spyOn(RoomShard.prototype, "takePieces");
  const contents = await talkUntil((count) => count > 2 && billed.mock.calls.length * 10 < count * SHARDS);
  for (const member of members) expect(await heard(member, contents.length)).toEqual(contents);
});

it("a shard that aborts in mid-session takes what comes after it, and the others miss nothing", async () => {
  const { room, members, talkUntil } = await hall();
  const billed = vi.spyOn(RoomShard.prototype, "takePieces");
  const areHeld = (count: number): boolean => count > 2 && billed.mock.calls.length * 2 < count * SHARDS;
  const before = await talkUntil(areHeld);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  await runInDurableObject(shardOf(room, 0), (_shard, ctx) => ctx.abort("in mid-session")).catch(() => undefined);
  const after = await talkUntil((count) => count === 20);
  for (const member of members.filter((_, i) => i !== 1))
    expect(await heard(member, before.length + after.length)).toEqual([...before, ...after]);
  await members[1]!.until("the closing", () => members[1]!.closed);
  const again = await join(room, "again");
  const last = await talkUntil((count) => count === 20);
  expect(await heard(again, last.length)).toEqual(last);
});

it("a room that falls quiet ends its sessions by itself: its shards and the room can be put to sleep, and go on", async () => {
  const { room, members, talkUntil } = await hall();
  const contents = await talkUntil((count) => count === 20);
  // Each waits until no call or session to it is open.
  for (let shard = 0; shard < SHARDS; shard++)
    await evictDurableObject(shardOf(room, shard), { webSockets: "hibernate" });
  await kit.evict(stubOf(room));
  contents.push(...(await talkUntil((count) => count === 5)));
  for (const member of members) expect(await heard(member, contents.length)).toEqual(contents);
});
