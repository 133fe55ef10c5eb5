// The examples of docs/rules.md: rooms with rules of their own, in workerd.
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { abortAllDurableObjects } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { createParley } from "../../../src/entries/chat.ts";
import { RawClient } from "../raw-client.ts";
import { tokenFor } from "./painters.ts";

const SERVICE = { user: "backend", name: "Backend", role: "service" } as const;

const chat = createParley<object>();

/** A client of a room with rules. */
async function enter(rooms: DurableObjectNamespace, room: string, user: string): Promise<RawClient> {
  const fetcher = { fetch: (asked: Request) => chat.fetch(asked, { ...env, CHAT_ROOM: rooms }) };
  const client = await RawClient.open({ room, fetcher });
  await client.connect({ token: await tokenFor(user) });
  return client;
}

const contentsSeen = (client: RawClient): string[] =>
  client.received<{ content: string }>("chat-message").map(({ content }) => content);

describe("docs/examples/rules/index.ts", () => {
  it("rejects, replaces and accepts posts and edits of members", async () => {
    const [ada, ben] = [await enter(env.RULED, "plain", "ada"), await enter(env.RULED, "plain", "ben")];
    expect(await ada.ask("chat-message", { content: "spam" })).toEqual({
      error: { code: "REJECTED", message: "No spam here." },
    });
    const { id } = await ada.ask("chat-message", { content: "darn" });
    expect(await ada.ask("edit-message", { id, content: "more spam" })).toMatchObject({ error: { code: "REJECTED" } });
    await ada.ask("chat-message", { content: "hello" });
    expect(contentsSeen(ben)).toEqual(["d**n", "hello"]);
  });

  it("accepts posts of the backend, and rejects those in a user's name", async () => {
    const room = env.RULED.getByName("backend");
    expect(await room.ask("chat-message", SERVICE, { content: "spam" })).toMatchObject({ ok: true });
    const ada = { user: "ada", name: "Ada", role: "member" } as const;
    expect(await room.ask("chat-message", ada, { content: "spam" })).toMatchObject({ error: { code: "REJECTED" } });
  });
});

describe("docs/examples/rules/by-service.ts", () => {
  it("asks the other Worker", async () => {
    const ada = await enter(env.RULED_BY_SERVICE, "service", "ada");
    expect(await ada.ask("chat-message", { content: "a secret" })).toEqual({
      error: { code: "REJECTED", message: "ada may not post that." },
    });
    expect(await ada.ask("chat-message", { content: "hello" })).toMatchObject({ ok: true, seq: 1 });
  });
});

describe("docs/examples/rules/by-http.ts", () => {
  const posted: Array<{ readonly url: string; readonly init: RequestInit }> = [];
  const logged: string[] = [];
  let answer: () => Promise<Response>;

  beforeEach(() => {
    posted.length = logged.length = 0;
    answer = async () => new Response(null, { status: 204 });
    vi.spyOn(globalThis, "fetch").mockImplementation(async (url, init) => {
      posted.push({ url: new Request(url).url, init: init as RequestInit });
      return answer();
    });
    vi.spyOn(console, "error").mockImplementation((...line: unknown[]) => void logged.push(line.join(" ")));
  });
  afterEach(() => vi.restoreAllMocks());

  it("HOOK-7: posts message and context, signed as webhooks are", async () => {
    const ada = await enter(env.RULED_BY_HTTP, "http", "ada");
    expect(await ada.ask("chat-message", { content: "hello", clientMsgId: "c-1" })).toMatchObject({ ok: true });
    expect(posted).toHaveLength(1);
    const { url, init } = posted[0]!;
    expect(url).toBe(env.RULES_URL);
    expect(JSON.parse(init.body as string)).toEqual({
      message: { content: "hello", clientMsgId: "c-1" },
      context: { kind: "post", user: "ada", name: "ada", role: "member", room: "http" },
    });
    const { "Parley-Timestamp": timestamp, "Parley-Signature": signature } = init.headers as Record<string, string>;
    const signed = utf8ToBytes(`${timestamp}.${init.body as string}`);
    const expected = bytesToHex(hmac(sha256, utf8ToBytes(env.RULES_SECRET), signed));
    expect(signature).toBe(`v1=${expected}`);
  });

  it("RULE-2: takes the decision from the answer", async () => {
    const ada = await enter(env.RULED_BY_HTTP, "verdicts", "ada");
    answer = async () => Response.json({ reject: "Not today." });
    expect(await ada.ask("chat-message", { content: "1" })).toEqual({
      error: { code: "REJECTED", message: "Not today." },
    });
    answer = async () => Response.json({ content: "two" });
    await ada.ask("chat-message", { content: "2" });
    expect(contentsSeen(ada)).toEqual(["two"]);
  });

  it.each<[string, () => Promise<Response>]>([
    ["an error of the server", async () => Response.json({ content: "x" }, { status: 500 })],
    ["a redirect", async () => new Response(null, { status: 302, headers: { Location: "https://elsewhere.example" } })],
    ["no JSON", async () => new Response("<p>k3y</p>")],
    ["too long an answer", async () => new Response(" ".repeat(65_537))],
    ["no answer", async () => Promise.reject(new Error("connect to rules.example.com/?key=k3y"))],
  ])("RULE-6: %s refuses the post, and the log does not tell the address", async (_, given) => {
    const ada = await enter(env.RULED_BY_HTTP, "failing", "ada");
    answer = given;
    expect(await ada.ask("chat-message", { content: "hello" })).toMatchObject({ error: { code: "INTERNAL" } });
    expect(logged.join()).toContain("beforePost failed");
    expect(logged.join()).not.toContain("k3y");
  });

  it("RULE-5: a room that dies while it waits forgets the post, and the retry is stored once", async () => {
    const ada = await enter(env.RULED_BY_HTTP, "dying", "ada");
    answer = () => new Promise(() => {});
    const post = { content: "hello", clientMsgId: "c-1" };
    const lost = ada.call("chat-message", post);
    await vi.waitFor(() => expect(posted).toHaveLength(1));
    await abortAllDurableObjects();
    await ada.closes();
    expect(lost.acks).toEqual([]);
    answer = async () => new Response(null, { status: 204 });
    const back = await enter(env.RULED_BY_HTTP, "dying", "ada");
    for (let times = 0; times < 2; times++)
      expect(await back.ask("chat-message", post)).toMatchObject({ ok: true, seq: 1 });
    expect(posted).toHaveLength(2);
  });

  it("RULE-8: a room that is deleted while it waits is empty, also after the decision", async () => {
    const room = env.RULED_BY_HTTP.getByName("deleted");
    await room.ask("chat-message", SERVICE, { content: "before" });
    const { promise, resolve } = Promise.withResolvers<Response>();
    answer = () => promise;
    const post = room.ask("chat-message", SERVICE, { content: "meanwhile" });
    await vi.waitFor(() => expect(posted).toHaveLength(2));
    await room.deleteRoom();
    expect(await post).toMatchObject({ error: { code: "INTERNAL" } });
    resolve(new Response(null, { status: 204 }));
    answer = async () => new Response(null, { status: 204 });
    expect(await room.ask("chat-message", SERVICE, { content: "after" })).toMatchObject({ ok: true, seq: 1 });
    expect(await room.overview()).toMatchObject({ lastSeq: 1 });
  });
});
