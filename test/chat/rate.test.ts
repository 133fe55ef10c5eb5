// RATE_LIMITED: one token bucket per user and room; reconnecting and sleep do not fill it.
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

import { REQUEST_LIMIT } from "../../src/protocol/limits.ts";
import { CHAT_EVENTS } from "../../src/protocol/chat-events.ts";
import { TokenBuckets } from "../../src/clock/rates.ts";
import { DIRECT_OPENINGS } from "../../src/protocol/direct-room.ts";
import { ChatRoom } from "../host/chat-room.ts";
import { START_MS, type Client } from "../host/harness.ts";

/** A rate so slow that no test refills it by the way. */
const SLOW = { perSecond: 0.1, burst: 5 };
const slowRoom = (): ChatRoom => new ChatRoom({ messageRate: SLOW });

const guest = (user: string): { user: string; isGuest: true } => ({ user, isGuest: true });

async function postsUntilLimited(client: Client, atMost = 20): Promise<number> {
  for (let posts = 0; posts < atMost; posts++) {
    const call = client.call("chat-message", { content: "x" });
    if (call.acks.length > 0 && call.answer.error) return posts;
  }
  return atMost;
}

describe("RATE_LIMITED", () => {
  it("lets a burst pass and refuses the next post, saying when to try again", async () => {
    const room = slowRoom();
    const ada = await room.join("ada");
    expect(await postsUntilLimited(ada)).toBe(SLOW.burst);
    room.shell.advance(4000);
    expect(await ada.ask("chat-message", { content: "x" })).toEqual({
      error: { code: "RATE_LIMITED", message: expect.stringMatching(/^Rate limit exceeded/), retryAfterMs: 6000 },
    });
    expect(ada.closing).toBeUndefined();
  });

  it("arrives as event error where the post carried no ack, with the same fields", async () => {
    const ada = await slowRoom().join("ada");
    for (let i = 0; i <= SLOW.burst; i++) ada.emit("chat-message", { content: "x" });
    expect(ada.received("error")).toEqual([
      { code: "RATE_LIMITED", message: expect.stringMatching(/^Rate limit exceeded/), retryAfterMs: 10_000 },
    ]);
  });

  it("is each user's own", async () => {
    const room = slowRoom();
    await postsUntilLimited(await room.join("ada"));
    expect(await postsUntilLimited(await room.join("ben"))).toBe(SLOW.burst);
  });

  it("does not touch reading", async () => {
    const ada = await slowRoom().join("ada");
    await postsUntilLimited(ada);
    expect(await ada.ask("history", {})).toMatchObject({ ok: true });
    expect(await ada.ask("presence", {})).toMatchObject({ ok: true });
  });

  it("is shared by a user's tabs", async () => {
    const room = slowRoom();
    const [one, other] = [await room.join("ada"), await room.join("ada")];
    expect(await postsUntilLimited(one, 3)).toBe(3);
    expect(await postsUntilLimited(other)).toBe(2);
    expect(await postsUntilLimited(one)).toBe(0);
  });

  it.each([0, 1])("is kept over sleep where only tab %d of two posted", async (poster) => {
    const room = slowRoom();
    const tabs = [await room.join("ada"), await room.join("ada")];
    room.shell.advance(100);
    await postsUntilLimited(tabs[poster]!);
    room.quiet();
    room.shell.evict();
    for (const tab of tabs) expect(await postsUntilLimited(tab)).toBe(0);
  });

  it("is kept over sleep where the tab that posted is gone and another one stays", async () => {
    const room = slowRoom();
    const [one, other] = [await room.join("ada"), await room.join("ada")];
    await postsUntilLimited(one);
    one.leave();
    room.quiet();
    room.shell.evict();
    expect(await postsUntilLimited(other)).toBe(0);
  });

  it("is not filled by going and coming back", async () => {
    const room = slowRoom();
    for (let i = 0; i < 3; i++) {
      const ada = await room.join("ada");
      expect(await postsUntilLimited(ada)).toBe(i === 0 ? SLOW.burst : 0);
      ada.leave();
    }
  });

  it("is not filled by a fresh token", async () => {
    const room = slowRoom();
    const ada = await room.join("ada");
    await postsUntilLimited(ada);
    await ada.ask("refresh-token", { token: room.token("ada") });
    expect(await postsUntilLimited(ada)).toBe(0);
  });

  it("is not filled by hundreds of other users who come and go", async () => {
    const room = slowRoom();
    const ada = await room.join("ada");
    await postsUntilLimited(ada);
    for (let i = 0; i < 300; i++) {
      const guest = await room.join(`guest-${i}`);
      guest.emit("chat-message", { content: "x" });
      guest.leave();
    }
    expect(await postsUntilLimited(ada)).toBe(0);
  });
});

describe("CHAT-6: requests other than posts", () => {
  const { burst } = REQUEST_LIMIT;
  const askUntilLimited = async (client: Client, event: string, payload: object): Promise<number> => {
    for (let asked = 0; asked <= burst; asked++) {
      const { error } = await client.ask(event, payload);
      if (!error) continue;
      expect(error).toMatchObject({ code: "RATE_LIMITED", retryAfterMs: expect.any(Number) });
      return asked;
    }
    throw new Error("there is no limit");
  };

  it("takes from a bucket of its own, one token each, shared by the user's tabs", async () => {
    const room = slowRoom();
    const [ada, tab] = [await room.join("ada"), await room.join("ada")];
    expect(await askUntilLimited(ada, "presence", {})).toBe(burst);
    expect(await askUntilLimited(tab, "dance", {})).toBe(0);
    expect(await tab.ask("chat-message", { content: "x" })).toMatchObject({ ok: true });
    expect(await (await room.join("ben")).ask("presence", {})).toMatchObject({ ok: true });
  });
});

describe("CHAT-6: guests of one address", () => {
  const guestRoom = (): ChatRoom => new ChatRoom({ messageRate: SLOW, guestRatePerIp: 0.1 });

  it("post no more together than one of them may, and those of another address are not asked to wait for them", async () => {
    const room = guestRoom();
    const crowd = await Promise.all(["g1", "g2", "g3"].map((user) => room.join(guest(user), { address: "192.0.2.1" })));
    let posted = 0;
    for (const client of crowd) posted += await postsUntilLimited(client);
    expect(posted).toBe(SLOW.burst);
    expect(await crowd[0]!.ask("chat-message", { content: "x" })).toMatchObject({ error: { code: "RATE_LIMITED" } });
    const remote = await room.join(guest("g4"), { address: "192.0.2.2" });
    expect(await postsUntilLimited(remote)).toBe(SLOW.burst);
    room.shell.advance(10_000);
    expect(await postsUntilLimited(crowd[2]!)).toBe(1);
  });

  it("edit no more together than they may post, and a member may", async () => {
    const room = guestRoom();
    const lines = { g1: await room.join(guest("g1"), { address: "192.0.2.1" }), ada: await room.join("ada") };
    const other = await room.join(guest("g2"), { address: "192.0.2.1" });
    const editsUntilLimited = async (client: Client): Promise<number> => {
      room.shell.advance(100);
      const { id } = (await client.ask("chat-message", { content: "first" })) as unknown as { id: string };
      for (let edits = 0; ; edits++) {
        const answer = await client.ask("edit-message", { id, content: `edit ${edits}` });
        if ("error" in answer || edits === SLOW.burst) return edits;
        // An unchanged connection costs no message.
        expect(await client.ask("edit-message", { id, content: `edit ${edits}` })).toMatchObject({ ok: true });
        room.shell.advance(100);
      }
    };
    expect(await editsUntilLimited(lines.g1)).toBe(SLOW.burst - 1);
    expect(await other.ask("chat-message", { content: "x" })).toMatchObject({ error: { code: "RATE_LIMITED" } });
    expect(await editsUntilLimited(lines.ada)).toBeGreaterThan(SLOW.burst - 1);
  });

  it("of one IPv6 network count as one; members behind the same address do not count", async () => {
    const room = guestRoom();
    const one = await room.join(guest("g1"), { address: "2001:db8::1" });
    const other = await room.join(guest("g2"), { address: "2001:db8::2:1" });
    expect(await postsUntilLimited(one)).toBe(SLOW.burst);
    expect(await postsUntilLimited(other)).toBe(0);
    const member = await room.join("ada", { address: "2001:db8::1" });
    expect(await postsUntilLimited(member)).toBe(SLOW.burst);
  });

  it("sleep does not fill their bucket", async () => {
    const room = guestRoom();
    const one = await room.join(guest("g1"), { address: "192.0.2.1" });
    const other = await room.join(guest("g2"), { address: "192.0.2.1" });
    expect(await postsUntilLimited(one)).toBe(SLOW.burst);
    room.shell.evict();
    expect(await postsUntilLimited(other)).toBe(0);
  });

  it("a fresh token makes or ends a guest; without the setting guests share no limit", async () => {
    const room = guestRoom();
    const one = await room.join(guest("g1"), { address: "192.0.2.1" });
    const other = await room.join("g2", { address: "192.0.2.1" });
    expect(await postsUntilLimited(one)).toBe(SLOW.burst);
    expect(await postsUntilLimited(other, 1)).toBe(1);
    await other.ask("refresh-token", { token: room.token(guest("g2")) });
    expect(await other.ask("chat-message", { content: "x" })).toMatchObject({ error: { code: "RATE_LIMITED" } });
    const free = slowRoom();
    for (const user of ["g1", "g2"]) expect(await postsUntilLimited(await free.join(guest(user)))).toBe(SLOW.burst);
  });
});

describe("DM-5: conversations that a user begins", () => {
  it("20 at once, then ten a minute; returned tokens count, up to a full bucket", () => {
    const openings = new TokenBuckets(DIRECT_OPENINGS);
    const takes = (atMs: number, times = 1): boolean[] =>
      Array.from({ length: times }, () => openings.take("ada", START_MS + atMs).ok);
    expect(takes(0, 20)).not.toContain(false);
    expect(takes(0)).toEqual([false]);
    expect(takes(5999)).toEqual([false]);
    expect(takes(6000, 2)).toEqual([true, false]);
    openings.giveBack("ada", START_MS + 6000);
    expect(takes(6000, 2)).toEqual([true, false]);
    const later = 3_600_000;
    openings.giveBack("ada", START_MS + later);
    expect(takes(later, 21).filter(Boolean)).toHaveLength(20);
  });
});

it("takes for each event the tokens of CHAT-6, and one where it names none", () => {
  const spec = readFileSync(path.join(import.meta.dirname, "../../src/chat/SPEC.md"), "utf8");
  const rule = /\*\*CHAT-6\*\*([^]*?)\n- \*\*/.exec(spec)![1]!;
  // Posts have a bucket of their own.
  const stated: Record<string, number> = { "chat-message": 0 };
  for (const part of rule.split(";")) {
    // Without a number at its begin, it is about pages that cost by their length alone: 0 for the empty page of this test.
    const cost = Number(/^\s*(\d+) /.exec(part)?.[1] ?? 0);
    for (const [, event] of part.matchAll(/`([a-z-]+)`/g)) stated[event!] = cost;
  }
  const taken = CHAT_EVENTS.map(({ name, cost = 1 }) => {
    const ofEmptyPage: unknown = typeof cost === "number" ? cost : (cost as (payload: object) => number)({ limit: 0 });
    return [name, ofEmptyPage] as const;
  });
  expect(
    Object.fromEntries(taken),
    "received: `cost` of the declarations; expected: CHAT-6 in src/chat/SPEC.md",
  ).toEqual({ ...Object.fromEntries(taken.map(([event]) => [event, 1])), ...stated });
});
