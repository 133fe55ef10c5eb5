// Limits of searching: the messages that a user's searches may read, and the rest between two turns.
import { describe, expect, it } from "vitest";

import { messageId } from "../../../src/protocol/message.ts";
import {
  READ_REST_LATER_MS,
  READ_REST_MS_PER_MESSAGE,
  READ_MESSAGES_LIMIT,
  ReadAllowance,
} from "../../../src/chat/room/read-allowance.ts";
import { ChatRoom, ROOM, UNLIMITED } from "../../host/chat-room.ts";
import { EPOCH } from "../../host/memory-log.ts";
import type { Call, Client } from "../../host/client.ts";
import { START_MS } from "../../host/harness.ts";

const MESSAGES = 10_000;
const { perSecond, burst } = READ_MESSAGES_LIMIT;
/** Of those that a user may read at once, so many are left. */
const LEFT = 50_000;

/** A room without an index, so that every search reads all messages. */
async function roomOf(count: number, readAllowance = new ReadAllowance()): Promise<{ room: ChatRoom; ada: Client }> {
  const room = new ChatRoom({ messageRate: UNLIMITED }, {}, { readAllowance });
  room.index.failure = new Error("there is no index");
  for (let from = 1; from <= count; from += 100) {
    const author = { room: ROOM, sender: "ada", name: "ada", timestamp: START_MS };
    const batch = Array.from({ length: 100 }, (_, i) => from + i);
    room.log.append(batch.map((seq) => ({ id: messageId(EPOCH, seq), seq, ...author, content: `word ${seq}` })));
  }
  return { room, ada: await room.join("ada") };
}

/** A room in which so much was just searched that no rest can be put off. */
function spent(): ReadAllowance {
  const allowance = new ReadAllowance();
  allowance.pay("zoe", { looked: READ_REST_LATER_MS / READ_REST_MS_PER_MESSAGE, reckoned: 0 }, START_MS);
  return allowance;
}

/** Of which ada has used all but `LEFT` in other rooms, with their rests. */
function nearlyUsed(): ReadAllowance {
  const allowance = new ReadAllowance();
  allowance.pay("ada", { looked: burst - LEFT, reckoned: burst - LEFT }, START_MS);
  return allowance;
}

interface Answer {
  readonly ok?: true;
  readonly messages: readonly unknown[];
  readonly error?: { readonly code: string; readonly retryAfterMs: number };
}

/** Turns the clock on until the answer is there. @returns how long that took, in ms */
function wait(room: ChatRoom, call: Call<Answer>): number {
  const sinceMs = room.shell.nowMs;
  while (call.acks.length === 0 && room.shell.nowMs - sinceMs < 60_000) room.shell.advance(1);
  return room.shell.nowMs - sinceMs;
}

const nowhere = (client: Client): Call<Answer> => client.call<Answer>("search", { query: "nowhere " });

describe("SRCH-9: a user's searches", () => {
  it("pay for the messages that they read, and are refused while the user is in debt", async () => {
    const { room, ada } = await roomOf(MESSAGES, nearlyUsed());
    const began = room.shell.nowMs;
    let searches = 0;
    let refused: Answer["error"];
    while (!refused && searches < 100) {
      const call = nowhere(ada);
      wait(room, call);
      refused = call.answer.error;
      if (!refused) searches++;
      room.shell.advance(400);
    }
    expect(refused).toMatchObject({ code: "RATE_LIMITED" });
    const earned = ((room.shell.nowMs - began) * perSecond) / 1000;
    expect(searches * MESSAGES).toBeGreaterThanOrEqual(LEFT);
    expect(searches * MESSAGES).toBeLessThanOrEqual(LEFT + earned + MESSAGES);

    room.shell.advance(refused!.retryAfterMs - 400 - 1);
    expect(nowhere(ada).answer.error).toMatchObject({ code: "RATE_LIMITED" });
    room.shell.advance(1);
    const call = nowhere(ada);
    wait(room, call);
    expect(call.answer).toMatchObject({ ok: true });
  });

  it("put the user in debt where several at a time read more than the limit", async () => {
    const { room, ada } = await roomOf(30_000, nearlyUsed());
    const calls = Array.from({ length: 4 }, () => nowhere(ada));
    for (const call of calls) wait(room, call);
    for (const { answer } of calls) expect(answer).toMatchObject({ ok: true });
    const { retryAfterMs } = nowhere(ada).answer.error!;
    const tookMs = room.shell.nowMs - START_MS;
    const owed = 4 * 30_000 - LEFT - (tookMs * perSecond) / 1000;
    expect(Math.abs(retryAfterMs - (owed * 1000) / perSecond)).toBeLessThan(1000);
  });

  it("are counted together in all rooms of the isolate, separately per user", async () => {
    const shared = nearlyUsed();
    const one = await roomOf(MESSAGES, shared);
    const other = await roomOf(MESSAGES, shared);
    for (let searches = 0; searches < 2 * (LEFT / MESSAGES); searches++) {
      const [here, there] = searches % 2 === 0 ? [one, other] : [other, one];
      there.room.shell.advance(wait(here.room, nowhere(here.ada)));
    }
    for (const { ada } of [one, other]) expect(nowhere(ada).answer.error).toMatchObject({ code: "RATE_LIMITED" });
    const ben = await other.room.join("ben");
    const call = nowhere(ben);
    wait(other.room, call);
    expect(call.answer).toMatchObject({ ok: true });
  });

  it("cost little where they read only the newest messages", async () => {
    const { room, ada } = await roomOf(MESSAGES);
    for (let searches = 0; searches < 200; searches++) {
      expect(ada.call<Answer>("search", { query: "word " }).answer).toMatchObject({ ok: true });
      room.shell.advance(400);
    }
  });
});

describe("SRCH-5: the rest between two turns of searches", () => {
  it("is three times as long as the turns took, with any number of searches", async () => {
    for (const count of [1, 4]) {
      const { room, ada } = await roomOf(MESSAGES, spent());
      const calls = Array.from({ length: count }, () => nowhere(ada));
      const tookMs = Math.max(...calls.map((call) => (wait(room, call), room.shell.nowMs - START_MS)));
      expect(tookMs).toBeGreaterThan(0.95 * count * MESSAGES * READ_REST_MS_PER_MESSAGE);
      expect(tookMs).toBeLessThan(1.3 * count * MESSAGES * READ_REST_MS_PER_MESSAGE);
    }
  });

  it("lets posts be stored and answered", async () => {
    const { room, ada } = await roomOf(MESSAGES, spent());
    const ben = await room.join("ben");
    const search = nowhere(ada);
    room.shell.advance(15);
    const post = ben.call("chat-message", { content: "hello" });
    expect(post.answer).toMatchObject({ ok: true });
    expect(search.acks).toEqual([]);
  });

  it("is shared by all rooms of an isolate, which take turns one after another", async () => {
    const shared = spent();
    const rooms = await Promise.all([roomOf(MESSAGES, shared), roomOf(MESSAGES, shared), roomOf(MESSAGES, shared)]);
    const calls = rooms.map(({ ada }) => nowhere(ada));
    let tookMs = 0;
    for (; calls.some(({ acks }) => acks.length === 0) && tookMs < 60_000; tookMs++)
      for (const { room } of rooms) room.shell.advance(1);
    expect(tookMs).toBeGreaterThan(0.95 * 3 * MESSAGES * READ_REST_MS_PER_MESSAGE);
  });

  it("is put off after quiet: a search of 50,000 messages is done at once, the next one waits", async () => {
    const messages = READ_REST_LATER_MS / READ_REST_MS_PER_MESSAGE;
    const { room, ada } = await roomOf(messages - 1000);
    expect(wait(room, nowhere(ada))).toBeLessThan(50);
    expect(wait(room, nowhere(ada))).toBeGreaterThan(0.9 * READ_REST_LATER_MS);
    room.shell.advance(READ_REST_LATER_MS);
    expect(wait(room, nowhere(ada))).toBeLessThan(50);
  });
});

describe("the allowance", () => {
  it("gives out turns one after another, with a longer rest after a turn that read more than expected", () => {
    const allowance = spent();
    const turns = [allowance.takeTurn(500, START_MS), allowance.takeTurn(500, START_MS)];
    expect(turns).toEqual([START_MS, START_MS + 10]);
    allowance.pay("ada", { looked: 2000, reckoned: 500 }, START_MS + 10);
    expect(allowance.takeTurn(500, START_MS + 10)).toBe(START_MS + 20 + 30);
  });

  it("puts off a second of rest at most, however long no search ran", () => {
    const allowance = new ReadAllowance();
    const laterMs = START_MS + 3_600_000;
    allowance.takeTurn(500, START_MS);
    const turns = Array.from({ length: 101 }, () => allowance.takeTurn(500, laterMs));
    expect(new Set(turns)).toEqual(new Set([laterMs]));
    expect(allowance.takeTurn(500, laterMs)).toBe(laterMs + 10);
  });

  it("goes on where the clock was set back", () => {
    const allowance = new ReadAllowance();
    allowance.takeTurn(500, START_MS + 3_600_000);
    expect(allowance.takeTurn(500, START_MS)).toBe(START_MS);
  });

  it("refuses a user who owes one message", () => {
    const allowance = new ReadAllowance();
    allowance.pay("ada", { looked: burst - 1, reckoned: 0 }, START_MS);
    expect(allowance.ask("ada", START_MS).ok).toBe(true);
    expect(allowance.ask("ada", START_MS)).toEqual({ ok: false, retryAfterMs: 1 });
    allowance.pay("ada", { looked: 10 * perSecond, reckoned: 0 }, START_MS);
    expect(allowance.ask("ada", START_MS)).toEqual({ ok: false, retryAfterMs: 10_001 });
    expect(allowance.ask("ada", START_MS + 10_001).ok).toBe(true);
  });
});
