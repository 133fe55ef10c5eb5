// The chat of this Worker, in workerd: real objects, real storage, and an eviction.
import { env, exports } from "cloudflare:workers";
import { evict, openRawClient } from "parley-rooms/testing";
import { expect, it } from "vitest";

const ORIGIN = "https://example.com";

/** Signs in, and comes to a room with the cookie. */
async function enter(room: string, user: string) {
  const login = await exports.default.fetch(`${ORIGIN}/login`, { method: "POST", body: JSON.stringify({ user }) });
  const headers = { Cookie: login.headers.get("Set-Cookie")!.split(";", 1)[0]! };
  const client = await openRawClient({ fetcher: exports.default, url: `${ORIGIN}/chat`, room, headers });
  await client.connect();
  return client;
}

it("refuses a forbidden word before any member sees it", async () => {
  const [ada, ben] = [await enter("market", "ada"), await enter("market", "ben")];
  const answer = await ada.ask("chat-message", { content: "Buy my spam" });
  expect(answer).toEqual({ error: { code: "REJECTED", message: "No spam here." } });
  expect(await ben.ask("history", {})).toMatchObject({ messages: [] });
});

it("keeps messages and connections while the room sleeps", async () => {
  const ada = await enter("library", "ada");
  await ada.ask("chat-message", { content: "before" });
  await evict(env.CHAT_ROOM.getByName("library"));
  // The same connection, to an object that remembers only what it stored.
  expect(await ada.ask("chat-message", { content: "after" })).toMatchObject({ ok: true, seq: 2 });
  expect(await ada.ask("history", {})).toMatchObject({ messages: [{ content: "before" }, { content: "after" }] });
});
