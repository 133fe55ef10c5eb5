// The client on a server of a later release: unknown events and fields disturb nothing (docs/releases.md).
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Room } from "../../../client/core/api.ts";
import { connectRoom } from "../../../client/core/room.ts";
import type { Message } from "../../../src/protocol/chat-events.ts";
import { turn, useDialled } from "../../host/fake-websocket.ts";

const WELCOME = { user: "ada", lastSeq: 0, settings: { maxContentLength: 1000, later: 1 }, later: { field: [1] } };

const dialled = useDialled();
let room: Room;
const heard: Message[] = [];

beforeEach(async () => {
  heard.length = 0;
  room = connectRoom("http://chat.example", "general", { token: () => "token" });
  room.on("chat-message", (message) => heard.push(message));
  await dialled.open({ later: true });
});
afterEach(() => room.close());

async function enter(): Promise<void> {
  dialled.line.receive('40{"sid":"socket","pid":"p","later":1}');
  await turn();
  await dialled.emit("welcome", WELCOME);
}

/** Answers the newest request. */
async function answer(given: object): Promise<void> {
  const [, id] = /^42(\d+)\[/.exec(String(dialled.line.sent.at(-1)))!;
  dialled.line.receive(`43${id}${JSON.stringify([given])}`);
  await turn();
}

describe("a server of a later release", () => {
  it("may send fields, events, actions and notices that the client does not know", async () => {
    await enter();
    await dialled.emit("poll-opened", { id: "p1", options: ["yes", "no"] });
    await dialled.emit("notice", { code: "MOVING", message: "The room moves to another building" });
    await dialled.emit("moderation", { action: "lock", by: "mia", until: 7 });
    await dialled.emit("chat-message", { id: "e-1", seq: 1, sender: "ben", content: "hello", poll: "p1" }, "e.1");
    expect(heard).toMatchObject([{ content: "hello", poll: "p1" }]);
    expect(room.connection).toEqual({ state: "connected" });
    const posted = room.send("hi");
    await answer({ ok: true, id: "e-2", seq: 2, timestamp: 1, later: true });
    expect(await posted).toMatchObject({ id: "e-2", seq: 2 });
  });

  it("may answer with a code that the client does not know: the message failed, and that is said", async () => {
    await enter();
    const failed = expect(room.send("hi")).rejects.toMatchObject({ code: "ASLEEP", message: "The room is asleep" });
    await answer({ error: { code: "ASLEEP", message: "The room is asleep" } });
    await failed;
    expect(room.unsent).toMatchObject([{ state: "failed", error: { code: "ASLEEP" } }]);
  });

  it("may refuse for a reason that the client does not know, and say when to come back", async () => {
    const data = { code: "MOVING", retryAfterMs: 5000 };
    dialled.line.receive(`44${JSON.stringify({ message: "The room moves", data })}`);
    await turn();
    expect(room.connection).toMatchObject({ state: "waiting", code: "MOVING" });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(dialled.count).toBe(2);
  });

  it("may close with a code that the client does not know: it comes back", async () => {
    await enter();
    dialled.line.onclose!({ code: 4099, reason: "later" });
    await vi.advanceTimersByTimeAsync(2000);
    expect(dialled.count).toBe(2);
  });
});
