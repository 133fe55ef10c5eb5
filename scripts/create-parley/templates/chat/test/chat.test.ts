// The chat with its own rules, in workerd: real objects, real storage, and an eviction.
import { evictDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { expect, it } from "vitest";

import { Client, guestToken } from "./client.ts";

const enter = async (room: string, name: string): Promise<Client> => Client.enter(room, await guestToken(name));

it("shows a message to everybody in the room, once it is stored", async () => {
  const [ada, ben] = [await enter("lounge", "Ada"), await enter("lounge", "Ben")];
  expect(await ada.ask("chat-message", { content: "Hello!" })).toMatchObject({ ok: true, seq: 1 });
  expect(await ben.event("chat-message")).toMatchObject({ name: "Ada", content: "Hello!" });
});

it("refuses a forbidden word before anybody sees it", async () => {
  const ada = await enter("market", "Ada");
  const answer = await ada.ask("chat-message", { content: "Buy my spam" });
  expect(answer).toEqual({ error: { code: "REJECTED", message: "No spam here." } });
  expect(await ada.ask("history", {})).toMatchObject({ messages: [] });
});

it("keeps messages and connections while the room sleeps", async () => {
  const ada = await enter("library", "Ada");
  await ada.ask("chat-message", { content: "Before" });
  await evictDurableObject(env.CHAT_ROOM.getByName("library"));
  // The same connection, to a room that has forgotten everything but its storage.
  expect(await ada.ask("chat-message", { content: "After" })).toMatchObject({ ok: true, seq: 2 });
  const { messages } = await ada.ask("history", {});
  expect(messages).toMatchObject([{ content: "Before" }, { content: "After" }]);
});

it("shows the page to chat on", async () => {
  const response = await exports.default.fetch("https://example.com/");
  expect(await response.text()).toContain("<title>Parley</title>");
});
