// Exports the whole history as a stream. API-8
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";

import { ChatRoom } from "../../durable/chat-room.ts";
import type { Message } from "../../src/protocol/chat-events.ts";
import { callApi, refusal, request } from "../durable/api-caller.ts";
import { openLog } from "../durable/logs.ts";
import { freshRoom, stubOf, useSettings } from "../durable/rooms.ts";

useSettings({ MESSAGE_RATE: "10000", MESSAGE_BURST: "10000", API_BURST: "10000", MAX_CONTENT_LENGTH: "3000" });

const LONG = "\u{1f98a}".repeat(2990);

/** Messages that are stored together, in the size of a row. */
const BATCH_MESSAGES = 10;

/** Stores messages in a room that nobody has used, each some 6,000 UTF-16 units of JSON. */
async function fill(room: string, count: number): Promise<void> {
  await runInDurableObject(stubOf(room), (_instance, { storage }) => {
    const log = openLog(storage, room);
    for (let from = 1; from <= count; from += BATCH_MESSAGES)
      log.append(
        Array.from({ length: BATCH_MESSAGES }, (_, i) => ({
          id: "",
          seq: from + i,
          room,
          sender: "ada",
          name: "ada",
          content: `${from + i}${LONG}.`,
          timestamp: Date.now(),
        })),
      );
  });
  await evictDurableObject(stubOf(room));
}

async function linesOf(response: Response): Promise<Message[]> {
  const text = new TextDecoder().decode(await response.bytes());
  return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Message]));
}

/** All messages of a room, from the newest page to the oldest. */
async function historyOf(room: string, before = ""): Promise<Message[]> {
  const { body } = await callApi("GET", `/api/rooms/${room}/messages?limit=200${before}`);
  const { messages, hasMore } = body as { messages: Message[]; hasMore: boolean };
  return hasMore ? [...(await historyOf(room, `&before=${messages[0]!.seq}`)), ...messages] : messages;
}

describe("an export: API-8", () => {
  it("is every message as history has it, one a line, ascending", async () => {
    const room = freshRoom();
    await fill(room, 150);
    const response = await request("GET", `/api/rooms/${room}/export`);
    expect(response.status).toBe(200);
    expect(response.headers.get("Content-Type")).toBe("application/x-ndjson");
    expect(response.headers.get("Content-Disposition")).toBe(`attachment; filename="${room}.ndjson"`);
    const exported = await linesOf(response);
    expect(exported.map(({ seq }) => seq)).toEqual(Array.from({ length: 150 }, (_, i) => i + 1));
    expect(exported).toEqual(await historyOf(room));
  });

  it("of an unused room is empty", async () => {
    expect(await linesOf(await request("GET", `/api/rooms/${freshRoom()}/export`))).toEqual([]);
  });

  it("goes on after a sleep of its room, and ends with the last message from before its beginning", async () => {
    const room = freshRoom();
    await fill(room, 100);
    const response = await request("GET", `/api/rooms/${room}/export`);
    const reader = response.body!.getReader();
    const first = (await reader.read()).value as Uint8Array;
    await evictDurableObject(stubOf(room), { webSockets: "hibernate" });
    await callApi("POST", `/api/rooms/${room}/messages`, { body: { content: "too late" } });
    let text = new TextDecoder().decode(first);
    expect(text.split("\n").length).toBeLessThan(100);
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += new TextDecoder().decode(part.value as Uint8Array);
    }
    const seqs = text.split("\n").flatMap((line) => (line === "" ? [] : [(JSON.parse(line) as Message).seq]));
    expect(seqs).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
  });

  it("asks its room for no more than the reader takes", async () => {
    const room = freshRoom();
    await fill(room, 200);
    const asked = vi.spyOn(ChatRoom.prototype, "exportPiece");
    const response = await request("GET", `/api/rooms/${room}/export`);
    const reader = response.body!.getReader();
    await reader.read();
    await callApi("GET", `/api/rooms/${room}`);
    const askedAfterOne = asked.mock.calls.length;
    while (!(await reader.read()).done);
    expect(asked.mock.calls.length).toBeGreaterThan(4);
    // One may be on its way while another is read.
    expect(askedAfterOne).toBeLessThanOrEqual(2);
    asked.mockRestore();
  });

  it("that the room refuses is an error answer: a third one of a user at once is a 429 with Retry-After", async () => {
    const room = freshRoom();
    await fill(room, 100);
    const as = { user: "mia", role: "moderator" };
    const begun: Response[] = [];
    for (let at = 0; at < 3; at++) begun.push(await request("GET", `/api/rooms/${room}/export`, { as }));
    expect(begun.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(begun[2]!.headers.get("Retry-After")).toBe("1");
    expect(await begun[2]!.json()).toMatchObject(refusal("RATE_LIMITED"));
    for (const { body } of begun.slice(0, 2)) await body!.cancel();
  });

  it.each<[why: string, error: RegExp, act: (room: string) => Promise<unknown>]>([
    [
      "its room is deleted, so that half of it is not taken for all",
      /deleted/,
      (room) => callApi("DELETE", `/api/rooms/${room}`),
    ],
    [
      "its reader is banned",
      /export ended/,
      (room) => callApi("POST", `/api/rooms/${room}/moderation`, { body: { action: "ban", user: "mia" } }),
    ],
    [
      "the token of its reader ends",
      /token has expired/,
      // An hour is the longest that tokens of tests live.
      async () => void vi.spyOn(Date, "now").mockReturnValue(Date.now() + 86_400_000),
    ],
  ])("breaks off when %s", async (_why, error, act) => {
    const room = freshRoom();
    await fill(room, 200);
    const as = { user: "mia", role: "moderator" };
    const reader = (await request("GET", `/api/rooms/${room}/export`, { as })).body!.getReader();
    await reader.read();
    await act(room);
    const readOn = async (): Promise<void> => {
      while (!(await reader.read()).done);
    };
    await expect(readOn()).rejects.toThrow(error);
    vi.restoreAllMocks();
  });
});
