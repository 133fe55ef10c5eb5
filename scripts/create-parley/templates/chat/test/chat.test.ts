// The chat with its own rules, in workerd: real objects, real storage, and an eviction.
import { env, exports } from "cloudflare:workers";
import { evict, openRawClient, type RawClient } from "parley-rooms/testing";
import { expect, it } from "vitest";

const ORIGIN = "https://example.com";

/** Enters a room as a guest. In production your backend signs tokens. */
async function enter(room: string, name: string): Promise<RawClient> {
  const guest = await exports.default.fetch(`${ORIGIN}/api/guest`, { method: "POST", body: JSON.stringify({ name }) });
  const { token } = (await guest.json()) as { token: string };
  const client = await openRawClient({ fetcher: exports.default, url: ORIGIN, room });
  await client.connect({ token });
  return client;
}

it("shows a message to all members of the room, once it is stored", async () => {
  const [ada, ben] = [await enter("lounge", "Ada"), await enter("lounge", "Ben")];
  expect(await ada.ask("chat-message", { content: "Hello!" })).toMatchObject({ ok: true, seq: 1 });
  expect(await ben.receives("chat-message")).toMatchObject([{ name: "Ada", content: "Hello!" }]);
});

it("refuses a forbidden word before any member sees it", async () => {
  const ada = await enter("market", "Ada");
  const answer = await ada.ask("chat-message", { content: "Buy my spam" });
  expect(answer).toEqual({ error: { code: "REJECTED", message: "No spam here." } });
  expect(await ada.ask("history", {})).toMatchObject({ messages: [] });
});

it("keeps messages and connections while the room sleeps", async () => {
  const ada = await enter("library", "Ada");
  await ada.ask("chat-message", { content: "Before" });
  await evict(env.CHAT_ROOM.getByName("library"));
  // The same connection, to a room that has forgotten everything but its storage.
  expect(await ada.ask("chat-message", { content: "After" })).toMatchObject({ ok: true, seq: 2 });
  expect(await ada.ask("history", {})).toMatchObject({ messages: [{ content: "Before" }, { content: "After" }] });
});

it("shows the page to chat on", async () => {
  const response = await exports.default.fetch(ORIGIN);
  expect(await response.text()).toContain("<title>Parley</title>");
});
