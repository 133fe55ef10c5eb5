// The objects of a big room: a drain and a deletion reach all of them, also where one fails; bytes reach members in all of them.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import * as z from "zod";

import type { ChatRoom } from "../../durable/chat-room.ts";
import { VERSION_KEY } from "../../src/socketio/object/stored-format.ts";
import { RoomFeature, roomEvent, type AnyFeature, type RoomHandle } from "../../src/extension/extension.ts";
import { shardName } from "../../src/protocol/shards.ts";
import * as kit from "../kit/testing.ts";
import { RawClient } from "./raw-client.ts";
import { freshRoom, join, stubOf, tokenFor, useSettings } from "./rooms.ts";

useSettings({ MAX_MEMBERS: "1", MAX_SHARDS: "4" });

const shardOf = (room: string, shard: number) => env.ROOM_SHARD.getByName(shardName(room, shard));

/** One member in the room, and one in each of two shards. */
async function hall(): Promise<{ room: string; members: RawClient[] }> {
  const room = freshRoom();
  const members: RawClient[] = [];
  for (const user of ["ada", "ben", "cyd"]) members.push(await join(room, user));
  return { room, members };
}

/** The data of the shard is of a newer version, so all calls to it fail. */
async function breakShard(room: string, shard: number): Promise<void> {
  const stub = shardOf(room, shard);
  await runInDurableObject(stub, (_shard, { storage }) => storage.kv.put(VERSION_KEY, 1000));
  await kit.evict(stub);
}

const codesOf = (members: readonly RawClient[]): Promise<unknown[]> =>
  Promise.all(members.map((member) => member.until("the closing", () => member.closed?.code)));

const keysOf = (room: string, shard: number): Promise<string[]> =>
  runInDurableObject(shardOf(room, shard), (_shard, { storage }) => Array.from(storage.kv.list(), ([key]) => key));

it.concurrent("SHD-4: the place of a shard is stored once it is quiet, and erased when the room is deleted", async () => {
  const { room, members } = await hall();
  await vi.waitFor(async () => expect(await keysOf(room, 0)).toContain("place"));
  await stubOf(room).deleteRoom();
  expect(await codesOf(members)).toEqual([4003, 4003, 4003]);
  expect(await keysOf(room, 0)).not.toContain("place");
  // Also later: the shard has nothing to say about a room that is gone.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(await keysOf(room, 0)).not.toContain("place");
});

it.concurrent("API-10: a drain closes the connections of all other objects where a shard fails, and names that shard", async () => {
  const { room, members } = await hall();
  await breakShard(room, 0);
  // Inside of the object: a call from outside that fails counts as an error of the test.
  await runInDurableObject(stubOf(room), async (instance: ChatRoom) => {
    await expect(instance.drain(1000)).rejects.toThrow("the connections of shards 0 are not closed");
  });
  expect(await codesOf(members)).toEqual([1012, 1012, 1012]);
});

it.concurrent("API-9: a deletion is carried out where a shard fails", async () => {
  const { room, members } = await hall();
  expect(await members[0]!.ask("chat-message", { content: "secret" })).toMatchObject({ ok: true });
  await breakShard(room, 0);
  await stubOf(room).deleteRoom();
  expect(await codesOf(members)).toEqual([4003, 1012, 4003]);
  const again = await join(room, "dan");
  expect(await again.ask("history", {})).toMatchObject({ messages: [] });
});

it.concurrent("SHD-1: the members of a shard that died come back, where the other objects are full, and nobody else gets in", async () => {
  const room = freshRoom();
  const members: RawClient[] = [];
  for (const user of ["ada", "ben", "cyd", "dan", "eve"]) members.push(await join(room, user));
  await kit.evict(shardOf(room, 2), "close");
  await members[3]!.until("the closing", () => members[3]!.closed);
  // As stock clients do.
  await new Promise((resolve) => setTimeout(resolve, 500));
  const [dan, fay] = [await RawClient.open({ room }), await RawClient.open({ room })];
  await dan.connect({ token: await tokenFor("dan") });
  await dan.receives("welcome");
  await expect(fay.connect({ token: await tokenFor("fay") })).rejects.toMatchObject({ data: { code: "ROOM_FULL" } });
  expect(members.filter(({ closed }) => closed)).toEqual([members[3]]);
});

interface Sketches {
  sketched(sketch: { readonly raw: Uint8Array }): void;
}

/** Sends the bytes that a member gives it to everyone, and back. */
class Sketching extends RoomFeature<Sketches> {
  readonly name = "sketching";
  override readonly sends = ["sketched"] as const;
  override readonly events = {
    sketch: roomEvent({
      schema: z.object({ raw: z.instanceof(Uint8Array) }),
      run: (sketch) => {
        this.room.everyone.emit("sketched", sketch);
        return sketch;
      },
    }),
  };
}

it.concurrent("SHD-2: bytes of a feature's event, of its answer and of the payload are bytes in the room and in each shard", async () => {
  const room = freshRoom();
  const features = (handle: RoomHandle): readonly AnyFeature[] => [new Sketching(handle)];
  // For all rooms: this one may sleep on a slow machine, and is another instance then.
  await runInDurableObject(stubOf(room), (instance: ChatRoom) =>
    Object.assign(Object.getPrototypeOf(instance) as ChatRoom, { features }),
  );
  // Deleted and begun anew, the room has them.
  await stubOf(room).deleteRoom();
  const members: RawClient[] = [];
  for (const user of ["ada", "ben", "cyd"]) members.push(await join(room, user));
  // WebSockets of this runtime give bytes as a Blob.
  const read = async ({ raw }: { raw: Blob }): Promise<number[]> => [...(await new Response(raw).bytes())];
  for (const [at, member] of members.entries())
    expect(await read(await member.ask("sketch", { raw: new Uint8Array([at, 255]) }))).toEqual([at, 255]);
  for (const member of members) {
    const heard = await member.receives<{ raw: Blob }>("sketched", 3);
    expect(await Promise.all(heard.map(read))).toEqual([
      [0, 255],
      [1, 255],
      [2, 255],
    ]);
  }
});
