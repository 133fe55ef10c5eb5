// Tests the client's Room over WebSockets whose server the test plays.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { MessageState, Room } from "../../../client/core/api.ts";
import { connectRoom } from "../../../client/core/room.ts";
import { turn, useDialled } from "../../host/fake-websocket.ts";

const SLEEP_MS = 80_000;

const dialled = useDialled();
let room: Room;
let states: MessageState[];
const posts = (): string[] =>
  dialled.all.flatMap(({ sent }) => sent.map(String)).filter((frame) => frame.includes("chat-m"));
const outcomes = (): string[] => states.map((is) => (is.state === "failed" ? is.error.code : is.state));

beforeEach(async () => {
  states = [];
  room = connectRoom("http://chat.example", "general", { token: () => "token" });
  room.on("message-state", (state) => states.push(state));
  await dialled.accept();
  await welcome("ada");
});
afterEach(() => room.close());

const welcome = (user: string): Promise<void> =>
  dialled.emit("welcome", { user, lastSeq: 0, settings: { maxContentLength: 1000 } });

/** The machine sleeps: time passes, and no timer runs. */
function sleep(): void {
  vi.setSystemTime(Date.now() + SLEEP_MS);
}

async function dialAgain(): Promise<void> {
  const dials = dialled.count;
  await vi.advanceTimersByTimeAsync(2000);
  expect(dialled.count).toBe(dials + 1);
  await dialled.accept();
}

describe("API-10: a server that goes away for a while", () => {
  it.each([2, 250, 9000, 599_000])(
    "is dialled again after the %d ms that this client was given",
    async (retryAfterMs) => {
      await dialled.emit("notice", { code: "SERVER_SHUTDOWN", message: "The server restarts", retryAfterMs });
      dialled.line.onclose!({ code: 1012, reason: "service restart" });
      await vi.advanceTimersByTimeAsync(retryAfterMs - 1);
      expect([dialled.count, room.connection.state]).toEqual([1, "waiting"]);
      await vi.advanceTimersByTimeAsync(2);
      expect(dialled.count).toBe(2);
    },
  );
});

describe("search", () => {
  it.each([
    ["tea time", { query: "tea time" }],
    [
      { query: "tea", from: "ben", before: 7 },
      { query: "tea", from: "ben", before: 7 },
    ],
  ])("asks the room for %j, and resolves with its answer", async (query, payload) => {
    const asked = room.search(query);
    await turn();
    const [, id, asks] = /^42(\d+)(.*)$/.exec(String(dialled.line.sent.at(-1)))!;
    expect(JSON.parse(asks!)).toEqual(["search", payload]);
    const answer = { ok: true, messages: [], hasMore: false, before: 1 };
    dialled.line.receive(`43${id}${JSON.stringify([answer])}`);
    expect(await asked).toEqual(answer);
  });
});

describe("a request on a connection that died unnoticed", () => {
  it("reaches no other user's connection", async () => {
    sleep();
    void room.send("private words of ada");
    await dialAgain();
    expect(posts()).toEqual([]);
    await welcome("ben");
    expect([posts(), outcomes()]).toEqual([[], ["pending", "elsewhere"]]);
  });

  it("is posted once, after the welcome of the next connection", async () => {
    sleep();
    void room.send("hello");
    await dialAgain();
    expect(posts()).toEqual([]);
    await welcome("ada");
    expect(posts()).toHaveLength(1);
  });

  it("is not posted any more once it was discarded", async () => {
    sleep();
    void room.send("hello", { clientMsgId: "hasty" });
    await turn();
    expect(room.discard("hasty")).toBe(true);
    await dialAgain();
    await welcome("ada");
    expect(posts()).toEqual([]);
  });

  it("rejects at once when it was a question", async () => {
    sleep();
    const asked = expect(room.presence()).rejects.toThrow("disconnected");
    await turn();
    await asked;
    await dialAgain();
    expect(dialled.line.sent.filter((frame) => String(frame).includes("presence"))).toEqual([]);
  });

  it("is not posted from a listener that hears of the end either", async () => {
    room.on("connection", ({ state }) => state === "waiting" && void room.send("still there?"));
    dialled.line.close();
    await dialAgain();
    expect(posts()).toEqual([]);
    await welcome("ada");
    expect(posts()).toHaveLength(1);
  });
});

describe("a message that the room cannot take", () => {
  it.each([
    ["more characters than the room allows", "🦜".repeat(1001)],
    ["more bytes than a packet may have", "\u0001".repeat(1000)],
  ])("fails at once and is never sent: %s", async (_why, content) => {
    const sent = expect(room.send(content, { clientMsgId: "long" })).rejects.toMatchObject({
      code: "TOO_LONG",
      clientMsgId: "long",
    });
    await turn();
    await sent;
    expect(room.unsent).toMatchObject([{ clientMsgId: "long", state: "failed", error: { code: "TOO_LONG" } }]);
    expect(() => room.retry("nobody")).toThrow(RangeError);
    void room.send("short");
    await turn();
    expect(posts()).toHaveLength(1);
    expect(room.connection).toEqual({ state: "connected" });
  });

  it.each([
    ["in characters, as the room counts them", ` ${"🦜".repeat(1000)} `],
    ["in bytes", "x".repeat(1000)],
  ])("is none at the limit: %s", async (_why, content) => {
    void room.send(content);
    await turn();
    expect([posts().length, outcomes()]).toEqual([1, ["pending"]]);
  });
});

it("messages that are given up while there is a connection fail, none of them goes out any more, and later ones are sent", async () => {
  const given = ["one", "two"].map((content) => room.send(content).catch(({ code }) => code as string));
  await turn();
  room.giveUp({ code: "STALE", message: "Not any more." });
  expect(await Promise.all(given)).toEqual(["STALE", "STALE"]);
  void room.send("three");
  await turn();
  expect(posts().map((frame) => /"content":"(\w+)"/.exec(frame)?.[1])).toEqual(["one", "three"]);
});

it("messages that are given up fail once each, also if the application retries each of them at once, and go out then", async () => {
  room.on("message-state", (message) => {
    if (message.state === "failed") room.retry(message.clientMsgId).catch(() => {});
  });
  for (const content of ["one", "two"]) void room.send(content).catch(() => {});
  await turn();
  room.giveUp({ code: "STALE", message: "Not any more." });
  expect(outcomes()).toEqual(["pending", "pending", "STALE", "pending", "STALE", "pending"]);
  expect(room.unsent).toMatchObject([{ content: "one" }, { content: "two" }]);
});

describe("a room that was closed", () => {
  it("refuses further messages with an error", async () => {
    room.close();
    await expect(room.send("after")).rejects.toMatchObject({ code: "CLOSED" });
    expect([room.unsent, outcomes()]).toEqual([[], []]);
  });

  it("stays closed", async () => {
    room.close();
    room.connect();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([dialled.count, room.connection]).toMatchObject([1, { state: "stopped", code: "CLOSED" }]);
  });

  it.each([
    ["connected", () => room],
    ["waiting for a token", () => connectRoom("http://chat.example", "other", { token: () => new Promise(() => {}) })],
    ["dialling", () => connectRoom("http://chat.example", "other", { token: "token" })],
  ])("leaves no timer behind that would keep a process alive: %s", async (_state, enter) => {
    const closing = enter();
    await turn();
    closing.close();
    room.close();
    await turn();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("a token that is about to end", () => {
  const expiring = (): void =>
    dialled.line.receive(`42${JSON.stringify(["notice", { code: "TOKEN_EXPIRING", message: "soon" }])}`);
  const refreshes = (): string[] => dialled.line.sent.map(String).filter((frame) => frame.includes("refresh-token"));

  it("is replaced over the same connection", async () => {
    expiring();
    await turn();
    expect(refreshes()).toEqual([expect.stringMatching(/^42\d+\["refresh-token",\{"token":"token"\}\]$/)]);
    expect([dialled.count, room.connection]).toEqual([1, { state: "connected" }]);
  });

  it.each([
    ["counts from the room's answer on: `tokenRole` has its role", { ok: true, exp: 1 }, "moderator"],
    ["counts for nothing where the room refuses it", { error: { code: "UNAUTHORIZED", message: "No." } }, "member"],
  ])("is replaced by another one that %s", async (_what, answer, role) => {
    const tokenOf = (claims: object): string => `x.${btoa(JSON.stringify({ sub: "ada", ...claims }))}.x`;
    const token = vi.fn(() => tokenOf({ role: "moderator" })).mockReturnValueOnce(tokenOf({}));
    const other = connectRoom("http://chat.example", "general", { token });
    await dialled.accept();
    expiring();
    await turn();
    expect(other.tokenRole).toBe("member");
    const [, id] = /^42(\d+)/.exec(refreshes().at(-1)!)!;
    dialled.line.receive(`43${id}${JSON.stringify([answer])}`);
    await turn();
    expect(other.tokenRole).toBe(role);
    other.close();
  });

  it("stays where there is none but this one, or none can be had", async () => {
    const signedOut = vi.fn<() => Promise<string>>().mockRejectedValue(new Error("signed out"));
    for (const token of ["fixed", signedOut.mockResolvedValueOnce("first")]) {
      const other = connectRoom("http://chat.example", "general", { token });
      await dialled.accept();
      expiring();
      await turn();
      expect([refreshes(), other.connection]).toEqual([[], { state: "connected" }]);
      other.close();
    }
  });

  it("TOK-5: is replaced later where the room cannot verify another one now, and not before `retryAfterMs`", async () => {
    const answer = (given: object): void => {
      const [, id] = /^42(\d+)/.exec(refreshes().at(-1)!)!;
      dialled.line.receive(`43${id}${JSON.stringify([given])}`);
    };
    const unavailable = { error: { code: "UNAVAILABLE", message: "No keys just now.", retryAfterMs: 10_000 } };
    expiring();
    await turn();
    for (let asked = 1; asked <= 2; asked++) {
      expect(refreshes()).toHaveLength(asked);
      answer(unavailable);
      await vi.advanceTimersByTimeAsync(9999);
      expect(refreshes()).toHaveLength(asked);
      await vi.advanceTimersByTimeAsync(1001);
    }
    expect(refreshes()).toHaveLength(3);
    answer({ ok: true, exp: 1 });
    await vi.advanceTimersByTimeAsync(20_000);
    expect([refreshes().length, room.connection.state]).toEqual([3, "connected"]);
  });

  it("comes too late for a connection that has ended meanwhile: the next one has a token of its own, and gets no other", async () => {
    const answers: Array<(token: string) => void> = [];
    const token = (): Promise<string> => new Promise((resolve) => void answers.push(resolve));
    const other = connectRoom("http://chat.example", "general", { token });
    answers[0]!("first");
    await dialled.accept();
    expiring();
    await turn();
    dialled.line.onclose!({ code: 1006, reason: "" });
    answers[1]!("late");
    await vi.advanceTimersByTimeAsync(2000);
    answers[2]!("next");
    await turn();
    await dialled.accept();
    await turn();
    expect([answers.length, other.connection.state]).toEqual([3, "connected"]);
    const sent = dialled.all.flatMap((line) => line.sent.map(String));
    expect(sent.filter((frame) => frame.includes("refresh-token"))).toEqual([]);
    other.close();
  });

  it("is replaced too late, after the connection has ended: the next attempt waits 30 s for its own token all the same, and no longer", async () => {
    const answers: Array<(token: string) => void> = [];
    const token = (): Promise<string> => new Promise((resolve) => void answers.push(resolve));
    const other = connectRoom("http://chat.example", "general", { token });
    answers[0]!("first");
    await dialled.accept();
    expiring();
    await turn();
    dialled.line.onclose!({ code: 1006, reason: "" });
    await vi.advanceTimersByTimeAsync(2000);
    expect([answers.length, other.connection.state]).toEqual([3, "connecting"]);
    answers[1]!("late");
    await vi.advanceTimersByTimeAsync(35_000);
    expect([answers.length, other.connection.state]).toEqual([4, "connecting"]);
    other.close();
  });
});

describe("an end of the connection", () => {
  const notice = (code: string): void =>
    dialled.line.receive(`42${JSON.stringify(["notice", { code, message: code }])}`, "41");

  it.each(["KICKED", "BANNED", "ROOM_DELETED"])("has the notice before it for a reason: %s", async (code) => {
    notice(code);
    await turn();
    expect(room.connection).toEqual({ state: "stopped", code, message: code });
  });

  it("leaves waiting messages alone, unless the application gives them up: then they fail, and can be sent again", async () => {
    const [first, second] = [room.send("one"), room.send("two")];
    notice("KICKED");
    await turn();
    expect(room.unsent.map(({ state }) => state)).toEqual(["pending", "pending"]);
    room.giveUp({ code: "KICKED", message: "Kicked." });
    for (const sent of [first, second]) await expect(sent).rejects.toMatchObject({ code: "KICKED" });
    expect(room.unsent.map(({ content, state }) => [content, state])).toEqual([
      ["one", "failed"],
      ["two", "failed"],
    ]);
  });

  it.each(["TOKEN_EXPIRING", "LUNCH"])("has none in a notice that announces no end: %s", async (code) => {
    notice(code);
    await turn();
    expect(room.connection).toMatchObject({ state: "stopped", code: "ENDED" });
  });
});
