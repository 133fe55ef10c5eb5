// Aborts and evicts objects under load, again and again, in rooms that mirror each other: every acked message is there once
// and in order, every message that a client saw is stored, and the copies are exact.
import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Message, PostAnswer } from "../../src/protocol/chat-events.ts";
import { callApi } from "./api-caller.ts";
import type { RawClient } from "./raw-client.ts";
import { freshRoom, join, stubOf, useSettings } from "./rooms.ts";
import { evict } from "../kit/objects.ts";

useSettings({ MESSAGE_RATE: "10000", MESSAGE_BURST: "10000", API_RATE: "10000", API_BURST: "10000" });

beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => {}));
beforeEach(() => void vi.spyOn(console, "warn").mockImplementation(() => {}));
afterEach(() => vi.restoreAllMocks());

const POSTERS = 3;
const POSTS = 25;
const SLOW = { interval: 100 };
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const historyOf = async (room: string): Promise<Message[]> => {
  const all: Message[] = [];
  for (;;) {
    const { body } = await callApi("GET", `/api/rooms/${room}/messages?limit=200&after=${all.at(-1)?.seq ?? 0}`);
    all.push(...(body.messages as Message[]));
    if (!body.hasMore) return all;
  }
};

/** All clients post until the room is gone; a post without an answer may or may not be stored. */
async function load(room: string, run: number, acked: Map<string, number>): Promise<RawClient[]> {
  const posters = await Promise.all(Array.from({ length: POSTERS }, (_, i) => join(room, `user-${i}`)));
  for (const [user, poster] of posters.entries()) {
    for (let i = 0; i < POSTS; i++) {
      const content = `run ${run}, user ${user}, ${i}`;
      poster
        .ask<PostAnswer>("chat-message", { content, clientMsgId: content })
        .then((answer) => "ok" in answer && acked.set(content, answer.seq))
        .catch(() => {});
    }
  }
  return posters;
}

interface Case {
  readonly relay: string;
  readonly what: string;
  readonly end: (rooms: readonly string[]) => Promise<unknown>;
  readonly runs: number;
}

async function evictRoom(room: string): Promise<void> {
  // Only a running object can be evicted.
  await runInDurableObject(stubOf(room), () => {});
  await evict(stubOf(room));
}

describe.each([
  { relay: "direct", what: "aborted", end: abortAllDurableObjects, runs: 20 },
  // The two rooms alone: on a busy machine those of other tests are not quiet soon enough.
  { relay: "direct", what: "evicted", end: (rooms) => Promise.all(rooms.map(evictRoom)), runs: 4 },
  { relay: "queue", what: "aborted", end: abortAllDurableObjects, runs: 20 },
] satisfies Case[])("RELAY=$relay, objects $what under load", ({ relay, end, runs }) => {
  useSettings({ RELAY: relay });

  it(`${runs} times: no acked message is lost, none is doubled, and the copies are exact`, async () => {
    const [from, to] = [freshRoom(), freshRoom()];
    expect((await callApi("POST", `/api/rooms/${from}/links`, { body: { to } })).status).toBe(200);
    const acked = new Map<string, number>();
    const seen: Message[] = [];
    for (let run = 0; run < runs; run++) {
      const posters = await load(from, run, acked);
      const before = acked.size;
      // Now before the first row, now between the first acks.
      if (run % 2 === 0) await pause((run * 7) % 40);
      else await vi.waitFor(() => expect(acked.size).toBeGreaterThan(before), { interval: 1 });
      await end([from, to]);
      for (const poster of posters) seen.push(...poster.received<Message>("chat-message"));
    }
    // The next batch shows the gap that an aborted batch left in the queue.
    await callApi("POST", `/api/rooms/${from}/messages`, { body: { content: "the last" } });
    await vi.waitFor(async () => {
      const copies = (await historyOf(to)).map(({ content }) => content);
      expect(copies).toEqual((await historyOf(from)).map(({ content }) => content));
    }, SLOW);

    const history = await historyOf(from);
    expect(history.map(({ seq }) => seq)).toEqual(history.map((_, at) => at + 1));
    expect(new Set(history.map(({ content }) => content)).size).toBe(history.length);
    for (const [content, seq] of acked) expect(history[seq - 1]).toMatchObject({ content, seq });
    for (const message of seen)
      expect(history[message.seq - 1]).toMatchObject({ id: message.id, content: message.content });
    expect([acked.size >= runs / 2, seen.length >= runs / 2]).toEqual([true, true]);
  });
});
