// A room that sleeps between any two steps behaves like one that stays awake.
import { runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";

import type { Message, PostAnswer, PresenceChange } from "../../src/protocol/chat-events.ts";
import { RawClient } from "./raw-client.ts";
import { freshRoom, join, Sleeper, stubOf, tokenFor, useSettings } from "./rooms.ts";
import { PacketType } from "../wire/wire-client.ts";

/** One token in ten seconds: none comes back while a test of a slow machine sleeps. */
useSettings({ MESSAGE_RATE: "0.1", MESSAGE_BURST: "20" });

type Posted = Extract<PostAnswer, { ok: true }>;

const post = (client: RawClient, content: string, more: object = {}): Promise<Posted> =>
  client.ask<Posted>("chat-message", { content, ...more });

async function pair(): Promise<{ room: string; ada: RawClient; ben: RawClient; sleeper: Sleeper }> {
  const room = freshRoom();
  const ada = await join(room, "ada");
  const ben = await join(room, "ben");
  await ada.until("both announced", () => peopleAnnounced(ada).has("ben") || undefined);
  await ben.until("own arrival announced", () => peopleAnnounced(ben).has("ben") || undefined);
  return { room, ada, ben, sleeper: new Sleeper(room) };
}

function peopleAnnounced(client: RawClient): Set<string> {
  return new Set(client.received<PresenceChange>("presence").flatMap(({ joined }) => joined.map(({ user }) => user)));
}

it("two members chat with a sleep between every step: CHAT-2", async () => {
  const { ada, ben, sleeper } = await pair();
  const steps = 6;
  for (let seq = 1; seq <= steps; seq++) {
    await sleeper.sleep();
    const [speaker, listener] = seq % 2 ? [ada, ben] : [ben, ada];
    const answer = await post(speaker, `message ${seq}`);
    expect(answer).toMatchObject({ ok: true, seq });
    await listener.receives("chat-message", seq);
  }
  for (const client of [ada, ben]) {
    const messages = client.received<Message>("chat-message");
    expect(messages.map(({ seq, sender, content }) => [seq, sender, content])).toEqual(
      Array.from({ length: steps }, (_, i) => [i + 1, i % 2 ? "ben" : "ada", `message ${i + 1}`]),
    );
    expect(new Set(messages.map(({ id }) => id)).size).toBe(steps);
    expect(client.closed).toBeUndefined();
  }
  await sleeper.see();
  expect(sleeper.instances).toBe(steps + 1);
});

it("a sleep does not reset the rate limit", async () => {
  const { ada, sleeper } = await pair();
  const { settings } = ada.received<{ settings: { messageBurst: number } }>("welcome")[0]!;
  const burst = (): Promise<Posted[]> =>
    Promise.all(Array.from({ length: settings.messageBurst }, (_, i) => post(ada, `${i}`)));
  expect((await burst()).every(({ ok }) => ok)).toBe(true);
  await sleeper.sleep();
  // Tokens come back while the room sleeps, but no faster than awake.
  const refused = (await burst()).filter(({ ok }) => !ok);
  expect(refused.length).toBeGreaterThan(settings.messageBurst / 2);
  expect(refused[0]).toMatchObject({
    error: { code: "RATE_LIMITED", message: expect.stringMatching(/^Rate limit exceeded/) },
  });
});

it("a repeated post after a sleep is recognised: CHAT-4", async () => {
  const { ada, ben, sleeper } = await pair();
  const first = await post(ada, "once", { clientMsgId: "m-1" });
  await sleeper.sleep();
  const again = await post(ada, "once", { clientMsgId: "m-1" });
  expect(again).toMatchObject({ ok: true, id: first.id, seq: first.seq, duplicate: true });
  await sleeper.sleep();
  // The same id of another user is another post.
  const other = await post(ben, "mine", { clientMsgId: "m-1" });
  expect(other).toMatchObject({ ok: true, seq: first.seq + 1 });
  expect(other.duplicate).toBeUndefined();
  await ada.receives("chat-message", 2);
  expect(ada.received<Message>("chat-message").map(({ content }) => content)).toEqual(["once", "mine"]);
});

it("a half-received binary packet survives the sleep: SIO-9", async () => {
  const { ada, sleeper } = await pair();
  ada.send('451-7["chat-message",{"_placeholder":true,"num":0}]');
  await sleeper.sleep();
  ada.send(new Uint8Array([1, 2, 3]).buffer);
  const ack = await ada.receivesPacket(PacketType.ACK, 7);
  // Bytes are no message, but they arrived as the argument of that event.
  expect(ack.data).toMatchObject([{ error: { code: "INVALID_PAYLOAD" } }]);
  expect(await post(ada, "fine")).toMatchObject({ ok: true });
});

it("a session that has not sent CONNECT survives a sleep: SIO-1", async () => {
  const room = freshRoom();
  const late = await RawClient.open({ room });
  await new Sleeper(room).sleep();
  await late.connect({ token: await tokenFor("late") });
  expect(await late.receives("welcome")).toHaveLength(1);
});

it("a token that expires while the room sleeps ends the membership", async () => {
  const room = freshRoom();

  const brief = await RawClient.open({ room });
  await brief.connect({ token: await tokenFor("brief", {}, 6) });
  await brief.receives("welcome");
  await new Sleeper(room).sleep();
  // No client speaks: the room's own alarm has to do it.
  expect(await brief.receives("notice", 2)).toMatchObject([{ code: "TOKEN_EXPIRING" }, { code: "TOKEN_EXPIRED" }]);
  await brief.receivesPacket(PacketType.DISCONNECT);
});

it("the history holds all messages from before and after the sleep, and keeps its epoch", async () => {
  const { room, ada, sleeper } = await pair();
  const first = await post(ada, "before");
  await sleeper.sleep();
  const second = await post(ada, "after", { replyTo: first.id });
  const { messages } = await ada.ask<{ messages: Message[] }>("history", {});
  expect(messages.map(({ id, content, replyTo }) => [id, content, replyTo])).toEqual([
    [first.id, "before", undefined],
    [second.id, "after", first.id],
  ]);
  expect(messages).toEqual(ada.received<Message>("chat-message"));
  await runInDurableObject(stubOf(room), (_instance, state) => expect(state.getWebSockets()).toHaveLength(2));
});
