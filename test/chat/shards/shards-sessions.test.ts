// The RPC sessions of a big room with its shards, which the platform bills as one request each: SHD-14.
import { describe, expect, it } from "vitest";

import { holdMs } from "../../../src/shards/sessions.ts";
import { BigRoom, hall, seen, type Shard } from "../../host/big-room.ts";
import { UNLIMITED } from "../../host/chat-room.ts";
import type { Client } from "../../host/harness.ts";

/** Batches come so far apart at least. */
const WINDOW_MS = 50;

/** Posts one message after another. @returns their contents */
async function talk(big: BigRoom, by: Client, count: number, everyMs: number): Promise<string[]> {
  const contents = Array.from({ length: count }, (_, i) => `${i}`);
  for (const content of contents) {
    by.emit("chat-message", { content });
    await big.pass(everyMs);
  }
  return contents;
}

const countsOf = ({ calls, requests }: Shard): { calls: number; requests: number } => ({
  calls: calls.length,
  requests,
});

const held = ({ shards }: BigRoom): number[] => shards.filter(Boolean).map(({ sessions }) => sessions.size);

describe("a big room", () => {
  it("that is busy makes all calls to a shard in one session, from the second on", async () => {
    const { big, ada, ben, cyd } = await hall();
    await big.pass(5000);
    const before = big.shards.map(countsOf);
    const contents = await talk(big, ada, 40, WINDOW_MS);
    const more = big.shards.map((shard, i) => {
      const { calls, requests } = countsOf(shard);
      return { calls: calls - before[i]!.calls, requests: requests - before[i]!.requests };
    });
    expect(more).toEqual([
      { calls: 40, requests: 2 },
      { calls: 40, requests: 2 },
    ]);
    expect(held(big)).toEqual([1, 1]);
    for (const member of [ben, cyd]) expect(seen(member)).toEqual(contents);
  });

  it("ends its sessions when it has been quiet for a moment, and sleeps", async () => {
    const { big, ada } = await hall();
    await talk(big, ada, 10, WINDOW_MS);
    await big.pass(holdMs(2) - WINDOW_MS);
    expect(held(big)).toEqual([0, 0]);
    await big.pass(20_000);
    expect([big.room.shell, ...big.shards.map(({ shell }) => shell)].map(({ canSleep }) => canSleep)).toEqual([
      true,
      true,
      true,
    ]);
  });

  it("holds none while its calls are so far apart that being awake would cost more than they do", async () => {
    const { big, ada } = await hall();
    await big.pass(5000);
    const before = big.shards.map(countsOf);
    for (let i = 0; i < 10; i++) {
      await talk(big, ada, 1, holdMs(2) + WINDOW_MS);
      expect(held(big)).toEqual([0, 0]);
    }
    const after = big.shards.map(countsOf);
    expect(after.map(({ requests }, i) => requests - before[i]!.requests)).toEqual([10, 10]);
  });

  it("holds them for longer the more shards it has, but no longer than shards are awake anyway", () => {
    expect([1, 2, 10, 1000].map(holdMs)).toEqual([93.75, 187.5, 937.5, 1000]);
  });

  it("goes on with the next instance of a shard that dies in mid-session, and nobody misses anything", async () => {
    const { big, ada, cyd } = await hall();
    const before = await talk(big, ada, 10, WINDOW_MS);
    expect(held(big)).toEqual([1, 1]);
    big.shard(0).shell.crash();
    const after = await talk(big, ada, 10, WINDOW_MS);
    const eve = await big.join("eve", 0);
    const last = await talk(big, ada, 10, WINDOW_MS);
    await big.pass(1000);
    expect(seen(cyd)).toEqual([...before, ...after, ...last]);
    expect(seen(eve)).toEqual(last);
  });

  it("makes a call again that failed in a session, in another session, and its chunks arrive once", async () => {
    const { big, ada, ben } = await hall();
    const before = await talk(big, ada, 10, WINDOW_MS);
    const { requests } = big.shard(0);
    big.shard(0).failure = new Error("the network failed");
    ada.emit("chat-message", { content: "lost" });
    await big.pass(0);
    big.shard(0).failure = undefined;
    const after = await talk(big, ada, 10, WINDOW_MS);
    expect(seen(ben)).toEqual([...before, "lost", ...after]);
    expect(big.shard(0).requests).toBeGreaterThan(requests);
    expect(held(big)).toEqual([1, 1]);
  });

  it("that dies leaves no session, and its next instance begins its own", async () => {
    const { big, ada, ben } = await hall();
    const before = await talk(big, ada, 10, WINDOW_MS);
    big.crash();
    expect(held(big)).toEqual([0, 0]);
    const eve = await big.room.join("eve");
    const after = await talk(big, eve, 10, WINDOW_MS);
    await big.pass(1000);
    expect(seen(ben)).toEqual([...before, ...after]);
  });

  it("that is deleted holds none", async () => {
    const { big, ada } = await hall();
    await talk(big, ada, 10, WINDOW_MS);
    big.room.turn(() => big.room.chat.parts.shards!.stop());
    expect(held(big)).toEqual([0, 0]);
  });
});

describe("a shard that passes chunks on", () => {
  it("holds a session with the shard below it, and none in its sleep", async () => {
    const big = new BigRoom({ messageRate: UNLIMITED, maxMembers: 1 }, { fanOut: 1 });
    const ada = await big.room.join("ada");
    const [, cyd] = [await big.join("ben", 0), await big.join("cyd", 1)];
    await big.pass(5000);
    const { requests } = big.shard(1);
    const contents = await talk(big, ada, 20, WINDOW_MS);
    expect([seen(cyd), big.shard(1).requests - requests, held(big)]).toEqual([contents, 2, [1, 1]]);
    await big.pass(20_000);
    expect([held(big), big.shard(0).shell.canSleep]).toEqual([[0, 0], true]);
  });
});
