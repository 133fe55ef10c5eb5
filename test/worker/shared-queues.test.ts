// The relay's queues and dead letters in a Worker that has not all of the features which send by them.
import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";

import { announcements, createParley, relay } from "../../src/entries/bare.ts";
import type { Feature } from "../../src/extension/extension.ts";
import { ANNOUNCE_VERSION, type AnnouncePart } from "../../src/protocol/announcement.ts";
import { RELAY_VERSION, type RelayBatch } from "../../src/protocol/relay-batch.ts";
import { storeDeadLetters } from "../../src/rpc/dead-letters.ts";
import { callApi, deadLettersTo } from "../durable/api-caller.ts";
import { ORIGIN } from "../durable/raw-client.ts";
import { freshRoom, join, workerWith } from "../durable/rooms.ts";
import { expositionOf } from "../host/exposition.ts";

afterEach(() => vi.restoreAllMocks());

const announced = (room: string): AnnouncePart => {
  const announce = { v: ANNOUNCE_VERSION, id: `to-${room}`, data: "hi", at: Date.now() } as const;
  return {
    announce: { ...announce, by: { user: "backend", name: "backend" } },
    part: 0,
    tries: 0,
    to: [{ room, number: 0 }],
  };
};

const relayed = (to: string): RelayBatch => ({
  v: RELAY_VERSION,
  from: freshRoom(),
  to,
  epoch: "e1",
  sinceSeq: 0,
  linkedAtMs: 1000,
  posts: {
    after: 0,
    upTo: 1,
    items: [
      { seq: 1, sender: "ada", name: "Ada", content: "far", root: { room: "far", epoch: "e1", seq: 1 }, hops: 1 },
    ],
  },
  changes: { after: 1000, upTo: 1000, items: [] },
});

async function consume(features: readonly Feature[], bodies: readonly unknown[]) {
  const messages = bodies.map((body, i) => ({ id: `m${i}`, timestamp: new Date(), attempts: 1, body }));
  const batch = createMessageBatch("parley-relay", messages);
  await createParley({ features }).queue(batch, env);
  const { explicitAcks, retryMessages } = await getQueueResult(batch, createExecutionContext());
  return { acked: explicitAcks, retried: retryMessages.map(({ msgId }) => msgId) };
}

it("a Worker with announcements alone delivers these, and retries batches of links, which it does not know", async () => {
  const room = freshRoom();
  const ada = await join(room, "ada");
  expect(await consume([announcements()], [relayed(room), announced(room)])).toEqual({
    acked: ["m1"],
    retried: ["m0"],
  });
  expect(await ada.receives("announcement")).toEqual([{ id: `to-${room}`, data: "hi" }]);
  expect(ada.received("chat-message")).toEqual([]);
});

it("a Worker with the relay alone delivers batches of links, and retries announcements, which it does not know", async () => {
  vi.spyOn(console, "warn").mockImplementation(() => {});
  const room = freshRoom();
  const ada = await join(room, "ada");
  expect(await consume([relay()], [announced(room), relayed(room)])).toEqual({ acked: ["m1"], retried: ["m0"] });
  expect(await ada.receives("chat-message")).toMatchObject([{ content: "far" }]);
  expect(ada.received("announcement")).toEqual([]);
});

describe("dead letters", () => {
  /** Of a link and of an announcement, both for that room. */
  async function storeBoth(room: string): Promise<number[]> {
    vi.spyOn(console, "warn").mockImplementation(() => {});
    const dead = [relayed(room), announced(room)].map((batch) => ({ batch, reason: "tried too often" }));
    await storeDeadLetters(env, dead, undefined);
    return (await deadLettersTo(room)).map(({ id }) => id);
  }

  it("a Worker with announcements alone lists and counts them, delivers its own again, and discards others", async () => {
    const room = freshRoom();
    const ada = await join(room, "ada");
    const fetcher = workerWith({}, { features: [announcements()] });
    const [link, announcement] = await storeBoth(room);
    const { body } = await callApi("GET", `/api/relay/dead?after=${link! - 1}`, { fetcher });
    expect(body.letters.map(({ id }: { id: number }) => id)).toEqual([link, announcement]);
    const metrics = await fetcher.fetch(new Request(new URL("/metrics", ORIGIN)));
    expect(expositionOf(await metrics.text()).valueOf("parley_dead_letters")).toBeGreaterThanOrEqual(2);
    const ids = [link, announcement];
    expect((await callApi("POST", "/api/relay/dead/replay", { fetcher, body: { ids } })).body).toEqual({
      ok: true,
      replayed: [announcement],
      failed: [{ id: link, reason: "no feature of the deployment delivers it" }],
    });
    expect(await ada.receives("announcement")).toEqual([{ id: `to-${room}`, data: "hi" }]);
    expect(await callApi("DELETE", `/api/relay/dead/${link}`, { fetcher })).toMatchObject({ status: 200 });
    expect(await deadLettersTo(room)).toEqual([]);
  });

  it("a Worker with the relay alone delivers those of links again", async () => {
    const room = freshRoom();
    const ada = await join(room, "ada");
    const fetcher = workerWith({}, { features: [relay()] });
    const [link, announcement] = await storeBoth(room);
    const ids = [link, announcement];
    const { body } = await callApi("POST", "/api/relay/dead/replay", { fetcher, body: { ids } });
    expect(body).toMatchObject({ replayed: [link], failed: [{ id: announcement }] });
    expect(await ada.receives("chat-message")).toMatchObject([{ content: "far" }]);
  });

  it("a Worker without either feature has no calls for them", async () => {
    const fetcher = workerWith({}, { features: [] });
    expect(await callApi("GET", "/api/relay/dead", { fetcher })).toMatchObject({ status: 404 });
  });
});
