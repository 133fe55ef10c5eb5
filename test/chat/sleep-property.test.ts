// A room that is evicted and restored whenever the platform could do so behaves as one that never sleeps. Random programs, run
// both ways.
import { PacketType } from "socket.io-parser";
import { describe, expect, it } from "vitest";

import { DEDUPE_WINDOW_MS } from "../../src/chat/log/posted-ids.ts";
import type { Message, Welcome } from "../../src/protocol/chat-events.ts";
import { ChatRoom } from "../host/chat-room.ts";
import { answerOf, programs, Run, sightOf, type Step } from "../host/program.ts";
import { fc, runs } from "../host/properties.ts";

const PARAMETERS = runs(1000);

async function play(steps: readonly Step[], asSleeper: boolean, room = new ChatRoom()): Promise<Run> {
  const run = new Run(room);
  const { shell } = run.room;
  for (const step of steps) {
    await run.take(step);
    if (asSleeper && shell.canSleep) shell.evict();
  }
  run.room.afterGrace();
  return run;
}

/** Acked means in the log, once; and nothing is in the log twice. */
function expectDurable({ acked, room: { log } }: Run): void {
  const messages = log.appended;
  expect(messages.map(({ seq }) => seq)).toEqual(messages.map((_, i) => i + 1));
  expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
  for (const { id, seq, sender, content, duplicate } of acked) {
    expect(messages[seq - 1]).toMatchObject({ id, seq, sender });
    const copies = messages.filter((message) => message.content === content);
    expect(copies).toHaveLength(duplicate ? 0 : 1);
    if (!duplicate) expect(copies[0]!.seq).toBe(seq);
  }
  const lastAtMs = new Map<string, number>();
  for (const { sender, clientMsgId, timestamp } of messages) {
    if (clientMsgId === undefined) continue;
    const key = JSON.stringify([sender, clientMsgId]);
    expect(timestamp - (lastAtMs.get(key) ?? -Infinity)).toBeGreaterThan(DEDUPE_WINDOW_MS);
    lastAtMs.set(key, timestamp);
  }
}

/** From its welcome on, each stay in the room saw every message once and in order, as it stands in the log, while it attended to all. */
function expectSeenInOrder({ clients, departed, attending, room: { log } }: Run): void {
  for (const client of clients) {
    let nextSeq: number | undefined;
    for (const { type, data } of client.packets) {
      if (type === PacketType.DISCONNECT) nextSeq = undefined;
      if (!Array.isArray(data)) continue;
      if (type === PacketType.ACK) {
        const [answer] = data as [{ lastSeq?: number }];
        const to = attending.find(({ call }) => call.acks[0] === data)?.to;
        if (to === "counts" && answer.lastSeq !== undefined) nextSeq = undefined;
        if (to === "all" && answer.lastSeq !== undefined) nextSeq = answer.lastSeq + 1;
        continue;
      }
      const [event, payload] = data as [unknown, unknown];
      if (event === "welcome") nextSeq = (payload as Welcome).lastSeq + 1;
      if (event !== "chat-message") continue;
      expect(payload).toEqual(log.appended[nextSeq! - 1]);
      expect((payload as Message).seq).toBe(nextSeq!++);
    }
    const isThere = nextSeq !== undefined && !client.closing && !departed.has(client);
    if (isThere) expect(nextSeq).toBe(log.lastSeq + 1);
  }
}

describe("a room that sleeps whenever it can", () => {
  it("behaves as one that never sleeps, for each member", async () => {
    let sleeps = 0;
    await fc.assert(
      fc.asyncProperty(programs, async (steps) => {
        const [awake, asleep] = [await play(steps, false), await play(steps, true)];
        sleeps += asleep.room.shell.sleeps;
        expect(asleep.clients.map(sightOf)).toEqual(awake.clients.map(sightOf));
        expect(asleep.calls.map(answerOf)).toEqual(awake.calls.map(answerOf));
        expect(asleep.room.log.batches).toEqual(awake.room.log.batches);
        expect(asleep.room.log.changes).toEqual(awake.room.log.changes);
        for (const run of [awake, asleep]) {
          expectDurable(run);
          expectSeenInOrder(run);
          expect(run.room.shell.recordBytesMax).toBeLessThan(2048);
        }
      }),
      PARAMETERS,
    );
    expect(sleeps).toBeGreaterThan(PARAMETERS.numRuns);
  });

  it("nor where it runs ahead of its storage when it is busy: CHAT-7", async () => {
    const relaxed = (): ChatRoom => new ChatRoom({ durability: "relaxed" });
    let ahead = 0;
    await fc.assert(
      fc.asyncProperty(programs, async (steps) => {
        const [awake, asleep] = [await play(steps, false, relaxed()), await play(steps, true, relaxed())];
        ahead += asleep.room.shell.journal.filter((line) => line.startsWith("reserve")).length;
        expect(asleep.clients.map(sightOf)).toEqual(awake.clients.map(sightOf));
        expect(asleep.room.log.batches).toEqual(awake.room.log.batches);
        expect(asleep.room.log.changes).toEqual(awake.room.log.changes);
      }),
      PARAMETERS,
    );
    expect(ahead).toBeGreaterThan(0);
  });
});
