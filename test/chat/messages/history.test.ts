// History: pages of the log, and the welcome with the place to start.
import { beforeAll, describe, expect, it } from "vitest";

import { HISTORY_LIMIT_DEFAULT, HISTORY_LIMIT_MAX } from "../../../src/protocol/limits.ts";
import { messageId } from "../../../src/protocol/message.ts";
import { ChatRoom, ROOM, UNLIMITED } from "../../host/chat-room.ts";
import { EPOCH } from "../../host/memory-log.ts";
import { START_MS, type Client } from "../../host/harness.ts";

const MESSAGES = 250;
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

let ada: Client;
let room: ChatRoom;

beforeAll(async () => {
  room = new ChatRoom({ messageRate: UNLIMITED });
  ada = await room.join("ada");
  for (let i = 1; i <= MESSAGES; i++) ada.emit("chat-message", { content: `${i}` });
  room.quiet();
});

async function seqs(query: object): Promise<{ seqs: number[]; hasMore: boolean }> {
  const answer = await ada.ask("history", query);
  expect(answer.ok).toBe(true);
  return { seqs: answer.messages.map(({ seq }: { seq: number }) => seq), hasMore: answer.hasMore };
}

describe("history", () => {
  it.each<[query: object, from: number, to: number, hasMore: boolean]>([
    [{}, MESSAGES - HISTORY_LIMIT_DEFAULT + 1, MESSAGES, true],
    [{ limit: 3 }, 248, 250, true],
    [{ limit: 1 }, 250, 250, true],
    [{ limit: HISTORY_LIMIT_MAX }, 51, 250, true],
    [{ before: 11, limit: 3 }, 8, 10, true],
    [{ before: 4, limit: 3 }, 1, 3, false],
    [{ before: 3, limit: 3 }, 1, 2, false],
    [{ before: 1 }, 1, 0, false],
    [{ before: 0 }, 1, 0, false],
    [{ before: 1_000_000, limit: 2 }, 249, 250, true],
    [{ after: 0, limit: 3 }, 1, 3, true],
    [{ after: 10, limit: 3 }, 11, 13, true],
    [{ after: 247, limit: 3 }, 248, 250, false],
    [{ after: 248, limit: 3 }, 249, 250, false],
    [{ after: 250 }, 1, 0, false],
    [{ after: 1_000_000 }, 1, 0, false],
  ])("%j is a page in ascending order", async (query, from, to, hasMore) => {
    expect(await seqs(query)).toEqual({ seqs: range(from, to), hasMore });
  });

  it("holds each message as its event sent it", async () => {
    const { messages } = await ada.ask("history", { limit: 5 });
    expect(messages).toEqual(ada.received("chat-message").slice(-5));
  });

  it("needs no payload", async () => {
    expect(await ada.ask("history")).toMatchObject({ ok: true, hasMore: true });
  });
});

describe("MSG-9: history", () => {
  it.each<[query: object, from: number, to: number, hasMore: boolean, hasMoreAfter: boolean]>([
    [{ around: 100, limit: 5 }, 98, 102, true, true],
    [{ around: 100, limit: 4 }, 99, 102, true, true],
    [{ around: 100, limit: 1 }, 100, 100, true, true],
    [{ around: 2, limit: 6 }, 1, 5, false, true],
    [{ around: 250, limit: 6 }, 248, 250, true, false],
    [{ around: 250, limit: 1 }, 250, 250, true, false],
    [{ around: 0, limit: 6 }, 1, 3, false, true],
    [{ around: 1_000_000, limit: 6 }, 248, 250, true, false],
  ])("%j has messages from both sides", async (query, from, to, hasMore, hasMoreAfter) => {
    expect(await seqs(query)).toEqual({ seqs: range(from, to), hasMore });
    expect(await ada.ask("history", query)).toMatchObject({ hasMoreAfter });
  });

  it("begins or ends at a time", async () => {
    const timely = new ChatRoom({ messageRate: UNLIMITED });
    const ben = await timely.join("ben");
    for (let i = 1; i <= 30; i++) {
      ben.emit("chat-message", { content: `${i}` });
      timely.shell.advance(1000);
    }
    const at = (seq: number): number => START_MS + (seq - 1) * 1000;
    const ask = async (query: object): Promise<unknown> => {
      const { messages, hasMore } = await ben.ask("history", query);
      return [messages.map(({ seq }: { seq: number }) => seq), hasMore];
    };
    expect(await ask({ afterTime: at(10), limit: 3 })).toEqual([[11, 12, 13], true]);
    expect(await ask({ afterTime: at(10) - 1, limit: 2 })).toEqual([[10, 11], true]);
    expect(await ask({ afterTime: at(28) })).toEqual([[29, 30], false]);
    expect(await ask({ afterTime: at(30) })).toEqual([[], false]);
    expect(await ask({ afterTime: 0, limit: 1 })).toEqual([[1], true]);
    expect(await ask({ beforeTime: at(10), limit: 2 })).toEqual([[8, 9], true]);
    expect(await ask({ beforeTime: at(3) + 1 })).toEqual([[1, 2, 3], false]);
    expect(await ask({ beforeTime: at(1) })).toEqual([[], false]);
    expect(await ask({ beforeTime: at(1000), limit: 1 })).toEqual([[30], true]);
  });
});

describe("CHAT-1: the welcome", () => {
  it("names the room, its newest message and its limits", async () => {
    const late = await room.join({ user: "late", name: "Late", role: "moderator" });
    expect(late.received("welcome")).toEqual([
      {
        room: ROOM,
        moderation: { slowModeSeconds: 0, readOnly: false },
        user: "late",
        name: "Late",
        role: "moderator",
        epoch: EPOCH,
        lastSeq: MESSAGES,
        lastId: messageId(EPOCH, MESSAGES),
        now: expect.any(Number),
        presence: { count: 2 },
        threads: true,
        typing: [],
        readSeq: 0,
        unread: MESSAGES,
        rev: expect.any(Number),
        settings: {
          maxContentLength: 1000,
          durability: "strict",
          messageRate: 10_000,
          messageBurst: 10_000,
          editWindowSeconds: 86_400,
          historySeconds: 30 * 86_400,
          crowdMembers: 200,
        },
      },
    ]);
    expect(late.packets.slice(0, 2).map(({ data }) => (Array.isArray(data) ? data[0] : data))).toEqual([
      { sid: expect.any(String) },
      "welcome",
    ]);
    late.leave();
  });

  it("names seq 0 in an empty room, and does not come again after sleep", async () => {
    const empty = new ChatRoom();
    const client = await empty.join("ada");
    expect(client.received("welcome")).toMatchObject([{ lastSeq: 0, presence: { count: 1 } }]);
    empty.quiet();
    empty.shell.evict();
    empty.quiet();
    expect(client.received("welcome")).toHaveLength(1);
  });
});
