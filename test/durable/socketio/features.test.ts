// The examples of docs/features.md: a deployment that adds features, and one that leaves some out.
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

import bare from "../../../docs/examples/bare/index.ts";
import featured from "../../../docs/examples/features/index.ts";
import { createParley } from "../../../src/entries/chat.ts";
import { RawClient } from "../raw-client.ts";
import { tokenFor } from "./painters.ts";

const ORIGIN = "https://example.com";
const LEFT_OUT = [
  "/api/rooms/{room}/search",
  "/api/rooms/{room}/links",
  "/api/relay/dead",
  "/api/announce",
  "/api/dms",
  "/api/rooms",
  "/api/unread",
  "/api/stats",
];

const variables = { ...env, CHAT_ROOM: env.BARE } as never;

interface Worker {
  fetch(request: Request, env: never): Promise<Response>;
}

async function enter(worker: Worker, rooms: DurableObjectNamespace, user: string, role = "member"): Promise<RawClient> {
  const fetcher = { fetch: (asked: Request) => worker.fetch(asked, { ...env, CHAT_ROOM: rooms } as never) };
  const client = await RawClient.open({ room: "features", fetcher });
  await client.connect({ token: await tokenFor(user, { role }) });
  return client;
}

async function pathsOf(worker: Worker): Promise<string[]> {
  const response = await worker.fetch(new Request(`${ORIGIN}/openapi.json`), variables);
  return Object.keys((await response.json<{ paths: object }>()).paths);
}

it("rooms with polls and five pins have both, besides what every room has", async () => {
  const mia = await enter(featured, env.FEATURED, "mia", "moderator");
  const ada = await enter(featured, env.FEATURED, "ada");
  expect(await ada.receives("welcome")).toMatchObject([{ poll: null, pinRules: { max: 5 }, reports: {} }]);
  expect(await mia.ask("open-poll", { question: "Tea?", options: ["Yes", "No"] })).toEqual({ ok: true });
  expect(await ada.ask("vote", { option: 1 })).toEqual({ ok: true });
  expect(await ada.receives("poll", 2)).toMatchObject([{}, { options: [{ votes: 0 }, { votes: 1 }] }]);
  expect(await ada.ask("search", { query: "tea" })).toMatchObject({ ok: true, messages: [] });
});

describe("a Worker without the usual features", () => {
  it("has rooms that know no search, and the feature that it names", async () => {
    const client = await enter(bare, env.BARE, "ada");
    expect(await client.ask("chat-message", { content: "hello" })).toMatchObject({ ok: true });
    expect(await client.ask("search", { query: "hello" })).toMatchObject({ error: { code: "UNKNOWN_EVENT" } });
    expect(await client.ask("pins", {})).toEqual({ ok: true, pins: [] });
  });

  it("has neither their HTTP calls nor the description of these", async () => {
    const [here, usual] = [await pathsOf(bare), await pathsOf(createParley())];
    expect(LEFT_OUT.filter((path) => here.includes(path))).toEqual([]);
    expect(LEFT_OUT.filter((path) => usual.includes(path))).toEqual(LEFT_OUT);
    const headers = { Authorization: `Bearer ${await tokenFor("backend", { role: "service" })}` };
    const search = new Request(`${ORIGIN}/api/rooms/bare/search?query=hello`, { headers });
    expect((await bare.fetch(search.clone(), variables)).status).toBe(404);
    expect((await createParley().fetch(search, { ...env, CHAT_ROOM: env.RULED } as never)).status).toBe(200);
  });

  it("consumes none of their queues", async () => {
    const batch = { queue: "my-webhooks", messages: [] } as unknown as MessageBatch;
    const withQueue = { ...env, WEBHOOKS: {} } as never;
    expect(await bare.handleQueue(batch, withQueue)).toBe(false);
    await expect(bare.queue(batch, withQueue)).rejects.toThrow("no consumer for the queue my-webhooks");
  });
});
