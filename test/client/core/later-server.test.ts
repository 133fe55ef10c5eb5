// The client on a server of a later release: unknown events and fields disturb nothing (docs/releases.md).
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Room } from "../../../client/core/api.ts";
import { ExtendedWebSocket } from "../../../client/core/extended-transports.ts";
import { connectRoom } from "../../../client/core/room.ts";
import type { Message } from "../../../src/protocol/chat-events.ts";
import { FakeWebSocket } from "../../host/fake-websocket.ts";

const HANDSHAKE = {
  sid: "engine",
  upgrades: [],
  pingInterval: 45_000,
  pingTimeout: 30_000,
  maxPayload: 5000,
  later: true,
};
const WELCOME = { user: "ada", lastSeq: 0, settings: { maxContentLength: 1000, later: 1 }, later: { field: [1] } };

const dialled: FakeWebSocket[] = [];
let room: Room;
const heard: Message[] = [];
const turn = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);
const line = (): FakeWebSocket => dialled.at(-1)!;
const emit = async (...event: unknown[]): Promise<void> => {
  line().receive(`42${JSON.stringify(event)}`);
  await turn();
};

beforeEach(async () => {
  vi.useFakeTimers();
  vi.spyOn(ExtendedWebSocket.prototype, "createSocket").mockImplementation((url: string) => {
    const ws = new FakeWebSocket(url);
    dialled.push(ws);
    return ws;
  });
  dialled.length = heard.length = 0;
  room = connectRoom("http://chat.example", "general", { token: () => "token" });
  room.on("chat-message", (message) => heard.push(message));
  await turn();
  line().onopen!();
  line().receive(`0${JSON.stringify(HANDSHAKE)}`);
  await turn();
});
afterEach(() => {
  room.close();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

async function enter(): Promise<void> {
  line().receive('40{"sid":"socket","pid":"p","later":1}');
  await turn();
  await emit("welcome", WELCOME);
}

/** Answers the newest request. */
async function answer(given: object): Promise<void> {
  const [, id] = /^42(\d+)\[/.exec(String(line().sent.at(-1)))!;
  line().receive(`43${id}${JSON.stringify([given])}`);
  await turn();
}

describe("a server of a later release", () => {
  it("may send fields, events, actions and notices that the client does not know", async () => {
    await enter();
    await emit("poll-opened", { id: "p1", options: ["yes", "no"] });
    await emit("notice", { code: "MOVING", message: "The room moves to another building" });
    await emit("moderation", { action: "lock", by: "mia", until: 7 });
    await emit("chat-message", { id: "e-1", seq: 1, sender: "ben", content: "hello", poll: "p1" }, "e.1");
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
    line().receive(`44${JSON.stringify({ message: "The room moves", data })}`);
    await turn();
    expect(room.connection).toMatchObject({ state: "waiting", code: "MOVING" });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(dialled.length).toBe(2);
  });

  it("may close with a code that the client does not know: it comes back", async () => {
    await enter();
    line().onclose!({ code: 4099, reason: "later" });
    await vi.advanceTimersByTimeAsync(2000);
    expect(dialled.length).toBe(2);
  });
});
