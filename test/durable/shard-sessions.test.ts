// RPC sessions between a big room and its shards, in the runtime: how many calls the platform bills, a session that breaks, and sleep. SHD-14
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, it, vi } from "vitest";

import { RoomShard } from "../../durable/room-shard.ts";
import type { Message } from "../../src/protocol/chat-events.ts";
import { shardName } from "../../src/protocol/shards.ts";
import { Receiver } from "../../src/shards/receiver.ts";
import * as kit from "../kit/testing.ts";
import type { RawClient } from "./raw-client.ts";
import { freshRoom, join, stubOf, useSettings } from "./rooms.ts";

/** Sessions that never form would otherwise be waited for in vain. */
const POSTS_MAX = 2000;
/** With so many shards a session is held for a second after a call. */
const SHARDS = 11;

useSettings({ MAX_MEMBERS: "1", MAX_SHARDS: String(SHARDS), MESSAGE_RATE: "1000", MESSAGE_BURST: "1000" });
afterEach(() => vi.restoreAllMocks());

const shardOf = (room: string, shard: number) => env.ROOM_SHARD.getByName(shardName(room, shard));

interface Hall {
  readonly room: string;
  /** The first one is in the room itself, each other one in a shard. */
  readonly members: RawClient[];
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

/** Posts until most calls to shards are made in sessions. */
const talkInSessions = ({ talkUntil }: Hall): Promise<string[]> => {
  const billed = vi.spyOn(RoomShard.prototype, "takePieces");
  return talkUntil((count) => count > 2 && billed.mock.calls.length * 2 < count * SHARDS);
};

/** Waits with each until no call or session to it is open. */
async function sleepShards(room: string): Promise<void> {
  for (let shard = 0; shard < SHARDS; shard++)
    await evictDurableObject(shardOf(room, shard), { webSockets: "hibernate" });
}

const heard = async (member: RawClient, count: number): Promise<string[]> =>
  (await member.receives<Message>("chat-message", count)).map(({ content }) => content);

it("a busy room makes far more calls to its shards than are billed, also where some throw: everybody gets everything once and in order", async () => {
  const { members, talkUntil } = await hall();
  const billed = vi.spyOn(RoomShard.prototype, "takePieces");
  const contents = await talkUntil((count) => count > 2 && billed.mock.calls.length * 10 < count * SHARDS);
  for (const member of members) expect(await heard(member, contents.length)).toEqual(contents);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  let failures = 0;
  const { value: take } = Object.getOwnPropertyDescriptor(Receiver.prototype, "take") as { value: Receiver["take"] };
  vi.spyOn(Receiver.prototype, "take").mockImplementation(async function (this: Receiver, call) {
    const answer = await take.call(this, call);
    if (++failures % 7 === 3) throw new Error("after it has taken the chunks");
    return answer;
  });
  contents.push(...(await talkUntil((count) => count === 40)));
  expect(failures).toBeGreaterThan(10);
  for (const member of members) expect(await heard(member, contents.length)).toEqual(contents);
});

it("a shard that aborts in mid-session takes what comes after it, and the others miss nothing", async () => {
  const all = await hall();
  const { room, members, talkUntil } = all;
  const before = await talkInSessions(all);
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
  await sleepShards(room);
  await kit.evict(stubOf(room));
  contents.push(...(await talkUntil((count) => count === 5)));
  for (const member of members) expect(await heard(member, contents.length)).toEqual(contents);
});

it("a room that aborts in mid-session: members of its shards go on with its next instance, and no session keeps shards awake", async () => {
  const all = await hall();
  const { room, members, talkUntil } = all;
  const contents = await talkInSessions(all);
  await runInDurableObject(stubOf(room), (_room, ctx) => ctx.abort("in mid-session")).catch(() => undefined);
  expect(await members[1]!.ask("chat-message", { content: "after" })).toMatchObject({ ok: true });
  await sleepShards(room);
  members[0] = await join(room, "again");
  contents.push("after", ...(await talkUntil((count) => count === 20)));
  for (const member of members.slice(1)) expect(await heard(member, contents.length)).toEqual(contents);
});

it("a room that is deleted in mid-session ends its sessions, and its shards serve the next room of that name", async () => {
  const all = await hall();
  const { room, members } = all;
  await talkInSessions(all);
  await stubOf(room).deleteRoom();
  for (const member of members) await member.until("the closing", () => member.closed);
  await sleepShards(room);
  const [ada, ben] = [await join(room, "ada"), await join(room, "ben")];
  for (let at = 0; at < 20; at++) await ada.ask("chat-message", { content: `${at}` });
  for (const member of [ada, ben])
    expect(await heard(member, 20)).toEqual(Array.from({ length: 20 }, (_, at) => `${at}`));
});
