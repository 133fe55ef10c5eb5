// Members who come to shards one right after the other: they are let in together, and miss nothing of what the room sends next.
import { describe, expect, it } from "vitest";
import * as z from "zod";

import { roomEvent, type Audience } from "../../../src/extension/extension.ts";
import { back, BigRoom, hall, lastOffset, seen, type Shard } from "../../host/big-room.ts";
import { Feature } from "../../host/custom-room.ts";
import type { Client } from "../../host/harness.ts";

const gapsOf = (big: BigRoom): string[] =>
  Object.keys(big.room.chat.room.meter.read()).filter((series) => series.startsWith("shard_gaps"));

describe("SHD-6: members who recover at the same time in another shard", () => {
  it("get what each of them missed, from wherever that begins", async () => {
    const { big, ada } = await hall();
    const clients = [];
    for (let at = 0; at < 6; at++) clients.push(await big.join(`user ${at}`, 0));
    await big.pass(1000);
    const gone: Array<{ at: number; client: Client; offset: unknown }> = [];
    for (const [at, client] of clients.entries()) {
      ada.emit("chat-message", { content: `${at}` });
      await big.pass(600);
      gone.push({ at, client, offset: lastOffset(client) });
      client.leave();
      await big.pass(10);
    }
    for (let at = 6; at < 30; at++) ada.emit("chat-message", { content: `${at}` });
    await big.pass(600);
    const coming = [3, 1, 4, 0, 5, 2].map(async (at) => {
      const { client, offset } = gone[at]!;
      return { at, former: client, again: await back(big, client, 3, offset) };
    });
    const post = ada.call("chat-message", { content: "30" });
    const backAgain = await Promise.all(coming);
    await big.pass(1000);
    expect(post.answer).toMatchObject({ ok: true });
    for (const { at, former, again } of backAgain) {
      expect(again.socketId()).toBe(former.socketId());
      expect(seen(again)).toEqual(Array.from({ length: 30 - at }, (_, more) => `${at + 1 + more}`));
    }
  });
});

describe("SHD-4: a shard that nobody is in", () => {
  it.each(["is refused", "leaves at once"])("takes the next member without a gap after one who %s", async (how) => {
    const { big, ada } = await hall();
    // A room of this size sends presence seldom, so the decision is the last item that the shard gets.
    for (let at = 0; at < 60; at++) await big.join(`user ${at}`, 1);
    ada.emit("ban", { user: "mallory" });
    await big.pass(10_000);
    await big.join("dan", 1);
    await big.pass(100);
    const first = await big.join(how === "is refused" ? "mallory" : "bob", 5);
    if (how === "leaves at once") first.leave();
    await big.pass(8000);
    for (let at = 0; at < 50; at++) ada.emit("chat-message", { content: `${at}` });
    await big.pass(6000);
    await big.join("eve", 1);
    await big.pass(100);
    const next = await big.join("cora", 5);
    ada.emit("chat-message", { content: "last" });
    await big.pass(1000);
    expect(seen(next)).toEqual(["last"]);
    expect(gapsOf(big)).toEqual([]);
  });
});

describe("SHD-3: a member whose decision is under way for long", () => {
  /** A member in the room, and a feature by which they say to all what no log holds. */
  async function saying(): Promise<{ big: BigRoom; ada: Client }> {
    const big = new BigRoom(
      { maxMembers: 1 },
      {
        custom: (handle) => [
          new Feature(handle, ({ inside }) => ({
            sends: ["said"],
            events: {
              say: roomEvent({
                schema: z.any(),
                run: (text) => {
                  (inside.everyone as Audience<{ said(text: unknown): void }>).emit("said", text);
                  return {};
                },
              }),
            },
          })),
        ],
      },
    );
    return { big, ada: await big.room.join({ user: "ada", role: "moderator" }) };
  }

  /** Calls to the shard are under way until the returned function is called. */
  function holding(shard: Shard): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    const take = shard.take.bind(shard);
    shard.take = async (...given) => {
      await promise;
      return take(...given);
    };
    return resolve;
  }

  it("counts as one that is there: the room leaves no shard with a member, who then misses nothing", async () => {
    const { big, ada } = await saying();
    const decide = holding(big.shard(0));
    const ben = await big.join("ben", 0);
    await big.pass(1500);
    decide();
    await big.pass(0);
    expect(ben.received("welcome")).toHaveLength(1);
    // An input after which nothing is sent to shards.
    ada.emit("history", {});
    ada.emit("say", "hello");
    await big.pass(0);
    expect(ben.received("said")).toEqual(["hello"]);
  });

  it("counts no more once they are refused", async () => {
    const { big, ada } = await saying();
    ada.emit("ban", { user: "mallory" });
    const decide = holding(big.shard(0));
    const mallory = await big.join("mallory", 0);
    await big.pass(1500);
    decide();
    await big.pass(5000);
    expect(mallory.received("welcome")).toEqual([]);
    expect(big.room.chat.parts.shards!.connections).toBe(0);
  });
});
