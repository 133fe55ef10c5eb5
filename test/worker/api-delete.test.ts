// Deleting a room: notices, disconnects, erased storage, a fresh start. API-9
import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";

import type { Message, PostAnswer } from "../../src/protocol/chat-events.ts";
import { callApi, refusal } from "../durable/api-caller.ts";
import { Poller } from "../durable/poller.ts";
import { PacketType } from "../wire/wire-client.ts";
import { RawClient } from "../durable/raw-client.ts";
import { alarmOf, freshRoom, join, Sleeper, stubOf, tokenFor } from "../durable/rooms.ts";

const RECOVERING = { query: { recovery: "on" } };
const deleteRoom = (room: string) => callApi("DELETE", `/api/rooms/${room}`);

/** Everything that a room has stored, as text. */
function storedIn(room: string): Promise<string> {
  return runInDurableObject(stubOf(room), async (_room, { storage }) => {
    const tables = storage.sql.exec<{ name: string }>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'",
    );
    const rows = tables.toArray().flatMap(({ name }) => storage.sql.exec(`SELECT * FROM "${name}"`).toArray());
    return JSON.stringify([rows, [...storage.kv.list()], await storage.getAlarm()]);
  });
}

async function roomWithHistory(): Promise<{ room: string; ada: RawClient }> {
  const room = freshRoom();
  const ada = await join(room, "ada", RECOVERING);
  await ada.ask("chat-message", { content: "a secret", clientMsgId: "once" });
  return { room, ada };
}

const connectAnswer = (client: RawClient): { sid: string; pid?: string } => client.accepted();

describe("deleting a room: API-9", () => {
  it("notifies everyone, disconnects them for good, and leaves nothing", async () => {
    const { room, ada } = await roomWithHistory();
    const ben = await join(room, "ben", { query: { ext: "1" } });
    await runInDurableObject(stubOf(room), (_room, { storage }) => {
      storage.kv.put("banned:cyd", "a secret of moderators");
      return storage.setAlarm(Date.now() + 3_600_000);
    });
    expect(await storedIn(room)).toMatch(/a secret.*a secret of moderators/s);
    expect(await deleteRoom(room)).toMatchObject({ status: 200, body: { ok: true } });
    for (const client of [ada, ben]) {
      expect(await client.closes()).toEqual({ code: 4003, reason: "forced server close" });
      expect(client.received("notice")).toMatchObject([{ code: "ROOM_DELETED" }]);
      // A stock client that hears this stays away.
      expect(client.packets.at(-1)).toMatchObject({ type: PacketType.DISCONNECT });
    }
    expect(await storedIn(room)).not.toContain("secret");
    expect(JSON.parse(await storedIn(room))).toMatchObject([expect.anything(), [], null]);
    expect((await callApi("GET", `/api/rooms/${room}`)).body).toMatchObject({ members: 0, lastSeq: 0 });
  });

  it("starts a new log: seq from 1, other ids, no duplicate of erased messages, answers to old messages refused", async () => {
    const { room } = await roomWithHistory();
    const old = (await callApi("GET", `/api/rooms/${room}/messages`)).body.messages[0] as Message;
    await deleteRoom(room);
    const cyd = await join(room, "ada");
    const again = await cyd.ask<PostAnswer>("chat-message", { content: "new", clientMsgId: "once" });
    expect(again).toMatchObject({ ok: true, seq: 1 });
    expect(again).not.toHaveProperty("duplicate");
    expect((again as { id: string }).id).not.toBe(old.id);
    const reply = { content: "to what is gone", replyTo: old.id };
    expect(await cyd.ask("chat-message", reply)).toMatchObject({ error: { code: "NOT_FOUND" } });
    expect(await cyd.ask("history", {})).toMatchObject({ messages: [{ content: "new" }] });
  });

  it("recovers no client: an earlier pid gets a fresh connection, before and after the room slept", async () => {
    const { room, ada } = await roomWithHistory();
    const { sid, pid } = connectAnswer(ada);
    const offset = (ada.packets.at(-2)!.data as string[]).at(-1);
    await deleteRoom(room);
    for (const sleeps of [false, true]) {
      if (sleeps) await new Sleeper(room).sleep();
      const back = await RawClient.open({ room, ...RECOVERING });
      await back.connect({ pid, offset, token: await tokenFor("ada") });
      expect(await back.receives("welcome")).toMatchObject([{ lastSeq: 0 }]);
      expect(connectAnswer(back).sid).not.toBe(sid);
      expect(back.received("chat-message")).toEqual([]);
    }
  });

  it("lives on as any room: members, sleep, heartbeats, deleting again", async () => {
    const { room } = await roomWithHistory();
    for (let round = 1; round <= 3; round++) {
      await deleteRoom(room);
      const ben = await join(room, "ben");
      const sleeper = new Sleeper(room);
      await sleeper.sleep();
      expect(await ben.ask("chat-message", { content: "hello" })).toMatchObject({ ok: true, seq: 1 });
      await sleeper.see();
      expect(await ben.ask("presence", {})).toMatchObject({ count: 1 });
    }
  });

  it("answers posts under way, by event and by call", async () => {
    const { room, ada } = await roomWithHistory();
    // The window is open now: these wait for their batch.
    const post = (content: string) => callApi("POST", `/api/rooms/${room}/messages`, { body: { content } });
    const posts = Promise.all([post("one"), post("two")]);
    const event = ada.ask("chat-message", { content: "three" });
    const deleted = deleteRoom(room);
    for (const { status } of await posts) expect(status).toBe(201);
    expect(await event).toMatchObject({ ok: true });
    expect(await deleted).toMatchObject({ status: 200 });
  });

  it("answers posts during the erasure: the room is begun anew with them", async () => {
    const { room } = await roomWithHistory();
    const caller = { user: "ben", name: "ben", role: "member" } as const;
    const [, answer] = await runInDurableObject(stubOf(room), (chatRoom) =>
      Promise.all([chatRoom.deleteRoom(), chatRoom.ask("chat-message", caller, { content: "new" })]),
    );
    expect(answer).toMatchObject({ ok: true, seq: 1 });
    expect(await callApi("GET", `/api/rooms/${room}/messages`)).toMatchObject({
      body: { messages: [{ content: "new" }] },
    });
  });

  it("ends polling clients too, with the reason, whether a poll waits or not", async () => {
    const room = freshRoom();
    const [waiting, between] = [await Poller.join(room, "ada"), await Poller.join(room, "ben")];
    const isOver = (packet: string): boolean => packet === "1";
    const heard = waiting.pollUntil(isOver);
    // The poll is there before the room goes: a call to the object comes after it.
    await callApi("GET", `/api/rooms/${room}`);
    await deleteRoom(room);
    for (const packets of [await heard, await between.pollUntil(isOver)]) {
      expect(packets.at(-3)).toContain("ROOM_DELETED");
      expect(packets.slice(-2)).toEqual(["41", "1"]);
    }
    expect((await between.poll()).status).toBe(400);
  });

  it("works for a sleeping room, and for an unused one", async () => {
    const { room, ada } = await roomWithHistory();
    await new Sleeper(room).sleep();
    expect(await deleteRoom(room)).toMatchObject({ status: 200 });
    expect(await ada.closes()).toMatchObject({ code: 4003 });
    expect(await deleteRoom(freshRoom())).toMatchObject({ status: 200, body: { ok: true } });
  });

  it("that fails is a 500, and nothing is half gone", async () => {
    const { room } = await roomWithHistory();
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    await runInDurableObject(stubOf(room), (_room, { storage }) => {
      storage.deleteAll = () => Promise.reject(new Error("disk trouble"));
    });
    expect(await deleteRoom(room)).toMatchObject({ status: 500, body: refusal("INTERNAL") });
    log.mockRestore();
    const { body } = await callApi("GET", `/api/rooms/${room}/messages`);
    expect(body.messages).toMatchObject([{ content: "a secret" }]);
  });

  it("that fails leaves the room as it was, with its deadlines, and answers every caller", async () => {
    const { room } = await roomWithHistory();
    const atMs = Date.now() + 3_600_000;
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const failing = runInDurableObject(stubOf(room), async (chatRoom, { storage }) => {
      await storage.setAlarm(atMs);
      storage.deleteAll = () => Promise.reject(new Error("disk trouble"));
      // Nor can the room begin anew.
      const begins = vi.spyOn(storage.sql, "exec").mockImplementation(() => {
        throw new Error("disk trouble");
      });
      const deleted = chatRoom.deleteRoom();
      begins.mockRestore();
      await deleted;
    });
    await expect(failing).rejects.toThrow();
    log.mockRestore();
    expect(await alarmOf(room)).toBe(atMs);
    const post = (content: string) => callApi("POST", `/api/rooms/${room}/messages`, { body: { content } });
    for (const { status } of await Promise.all([post("one"), post("two"), post("three")])) expect(status).toBe(201);
  });
});
