// A test of somebody's own: a room of the chat in their Worker sleeps between two messages.
import { evictDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { expect, it } from "vitest";

const ORIGIN = "https://example.com";

async function enter(room: string, user: string) {
  const login = await exports.default.fetch(`${ORIGIN}/login`, { method: "POST", body: JSON.stringify({ user }) });
  const cookie = login.headers.get("Set-Cookie")!.split(";", 1)[0]!;
  const { webSocket } = await exports.default.fetch(
    `${ORIGIN}/chat/rooms/${room}/socket.io/?EIO=4&transport=websocket`,
    { headers: { Upgrade: "websocket", Cookie: cookie } },
  );
  const packets: string[] = [];
  webSocket!.addEventListener("message", ({ data }) => packets.push(data));
  webSocket!.accept();
  webSocket!.send("40");
  const packet = (form: RegExp) => expect.poll(() => packets.find((text) => form.test(text))).toBeDefined();
  await packet(/^40/);
  return { send: (text: string) => webSocket!.send(text), packet };
}

it("keeps the connection and the messages", async () => {
  const ada = await enter("lounge", "ada");
  ada.send('420["chat-message",{"content":"before"}]');
  await ada.packet(/^430\[{"ok":true,.*"seq":1/);
  await evictDurableObject(env.CHAT_ROOM.getByName("lounge"));
  ada.send('421["chat-message",{"content":"after"}]');
  await ada.packet(/^431\[{"ok":true,.*"seq":2/);
  ada.send('422["history",{}]');
  await ada.packet(/^432.*"before".*"after"/);
});
