// Tests one room view of the page, over WebSockets whose server the test plays.
import { saidNow } from "../../../client/page/state/chat-store.ts";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";

import type { Composing } from "../../../client/page/state/composing.ts";
import { ReaderIdentity, TokenNeeded } from "../../../client/page/state/reader-identity.ts";
import { holdText } from "../../../client/page/state/hold-words.ts";
import { RoomView } from "../../../client/page/state/room-view.ts";
import { typingLine } from "../../../client/page/state/typing-line.ts";
import { FAILED_MAX } from "../../../client/core/outbox-messages.ts";
import { FakeLocalStorage } from "../../host/fake-local-storage.ts";
import { FakeWebSocket, useDialled } from "../../host/fake-websocket.ts";

let view: RoomView;
let announced: string[];
let identity: ReaderIdentity;

/** Answers the page's requests from `answers`. */
class Server extends FakeWebSocket {
  override send(frame: unknown): void {
    for (const [, id, event] of String(frame).matchAll(/42(\d+)\["([a-z-]+)"/g)) {
      const answer = answers[event!]?.();
      if (answer) queueMicrotask(() => this.receive(`43${id}${JSON.stringify([answer])}`));
    }
  }
}

let answers: Record<string, () => object>;
const dialled = useDialled((url) => new Server(url));
let history: object[];
const messageOf = (seq: number, content: string): object => ({ id: content, seq, sender: "ben", name: "Ben", content });
const hold = (): string => holdText(view.state.me.hold, view.store.now()).join("");
const shown = (): string[] => view.state.messages.stored.map(({ content }) => content);

async function enter(epoch: string, user = "ada", also = (): object => ({})): Promise<void> {
  await vi.advanceTimersByTimeAsync(2000);
  await dialled.accept();
  const read = { readSeq: 0, unread: history.length };
  const told = {
    user,
    lastSeq: history.length,
    rev: 1,
    epoch,
    presence: { count: 1 },
    settings: {},
    ...read,
    ...also(),
  };
  await dialled.emit("welcome", told);
}

beforeEach(() => {
  announced = [];
  identity = new ReaderIdentity("http://chat.example");
  history = [];
  answers = {
    history: () => ({ ok: true, messages: history, hasMore: false }),
    changes: () => ({ ok: true, messages: [], hasMore: false, rev: 1 }),
  };
  view = begin();
});
function begin(current: () => string = () => "token", renew: () => Promise<unknown> = async () => {}): RoomView {
  return new RoomView(
    "http://chat.example",
    "general",
    { current, renew },
    {
      inherit: (user) => identity.inheritanceOf(user),
      changed: () => {},
      announce: (text) => announced.push(saidNow(text)),
      hasThreads: true,
    },
  );
}

afterEach(() => void view.leave());

it("files that the room has not got yet are uploaded by its next view, each in the field for which it was chosen", async () => {
  const [photo, notes] = [new File(["a"], "photo.txt"), new File(["b"], "notes.txt")];
  await Promise.all([view.composing.add([photo]), view.composingIn("first-1").add([notes])]);
  const left = view.leave();
  view = begin();
  view.goOn(left);
  await vi.advanceTimersByTimeAsync(0);
  const filesOf = ({ uploads }: Composing): readonly File[] => uploads.map(({ file }) => file);
  expect(filesOf(view.composing)).toEqual([photo]);
  expect(filesOf(view.composingIn("first-1"))).toEqual([notes]);
});

it("an outgoing message that was stored long ago makes no gap in the timeline", async () => {
  view.composing.post("long ago");
  history = [951, 952].map((seq) => messageOf(seq, `m${seq}`));
  answers["history"] = () => ({ ok: true, messages: history, hasMore: true });
  answers["chat-message"] = () => ({ ok: true, id: "5", seq: 5, timestamp: 1, duplicate: true });
  await enter("first");
  expect([shown(), view.state.messages.outgoing]).toEqual([["m951", "m952"], []]);
});

it("says why messages could not be loaded", async () => {
  answers["history"] = () => ({ error: { code: "INTERNAL", message: "Storage is away" } });
  await enter("first");
  expect(view.notice).toBe("Messages could not be loaded. Storage is away.");
});

it("a quoted message that could not be loaded is asked for again, but not at each draw", async () => {
  await enter("first");
  let asked = 0;
  answers["get-message"] = () => ({ error: { code: "RATE_LIMITED", message: `Slower, ${++asked}` } });
  const draw = async (afterMs: number): Promise<unknown> => {
    const quoted = view.store.quoted("hello");
    await vi.advanceTimersByTimeAsync(afterMs);
    return quoted;
  };
  for (let times = 0; times < 5; times++) await draw(0);
  expect(asked).toBe(1);
  await draw(5000);
  answers["get-message"] = () => ({ ok: true, message: messageOf(1, "hello") });
  await draw(0);
  expect(await draw(0)).toMatchObject({ content: "hello" });
});

it("a role that is taken back is gone at once", async () => {
  view.leave();
  view = begin(() => `.${Buffer.from(JSON.stringify({ sub: "ada", role: "reader" })).toString("base64url")}.`);
  await enter("first");
  const decided = { user: "ada", by: "ben", at: 1 };
  await dialled.emit("moderation", { ...decided, action: "grant", role: "moderator" });
  expect(view.state.me.isModerator).toBe(true);
  await dialled.emit("moderation", { ...decided, action: "revoke" });
  expect([view.state.me.isModerator, view.blocked]).toEqual([false, "You may read here, but not write."]);
});

describe("where the reader's clock is off by an hour", () => {
  const HOUR_MS = 3_600_000;
  const moderated = (change: object): Promise<void> =>
    dialled.emit("moderation", { user: "ada", by: "ben", at: 1, ...change });

  it.each([-HOUR_MS, HOUR_MS])("mutes and slow mode end by the room's clock: %i ms", async (offMs) => {
    const roomNow = (): number => Date.now() + offMs;
    await enter("first", "ada", () => ({ now: roomNow(), moderation: { mutedUntil: roomNow() + 60_000 } }));
    expect([hold(), view.state.me.hold?.code === "MUTED"]).toEqual(["A moderator muted you: 1:00 min left", true]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([hold(), view.state.me.hold?.code === "MUTED"]).toEqual(["", false]);

    await moderated({ action: "mute", until: roomNow() + 10_000 });
    await vi.advanceTimersByTimeAsync(1000);
    expect(hold()).toBe("A moderator muted you: 9 s left");
    await moderated({ action: "unmute" });
    await moderated({ action: "slow-mode", seconds: 30 });
    expect(hold()).toBe("");
    answers["chat-message"] = () => ({ ok: true, id: "1", seq: 1, timestamp: roomNow() });
    view.composing.post("hello");
    await vi.advanceTimersByTimeAsync(0);
    expect(hold()).toBe("Slow mode: next message in 30 s");
  });
});

it("announces messages of others, a file by its name, and no deleted ones", async () => {
  await enter("first");
  const heard = [
    messageOf(1, "hello"),
    { ...messageOf(2, ""), id: "two", attachment: { name: "cat.png" } },
    { ...messageOf(3, ""), id: "three", deleted: true },
    { ...messageOf(4, "mine"), sender: "ada", name: "Ada" },
  ];
  for (const message of heard) await dialled.emit("chat-message", message);
  expect(view.state.messages.stored).toHaveLength(4);
  expect(announced).toEqual(["Ben: hello", "Ben: cat.png"]);
});

describe("a change of a message", () => {
  async function save(): Promise<void> {
    view.writing.beginEdit({ id: "7", content: "first words" });
    view.writing.write("better words");
    const saved = view.writing.save();
    await vi.advanceTimersByTimeAsync(0);
    await saved;
  }

  it("that the room refuses stays in the composer, with the room's reason", async () => {
    await enter("first");
    answers["edit-message"] = () => ({ error: { code: "EDIT_WINDOW", message: "Too late to edit" } });
    await save();
    expect(view.writing).toMatchObject({ text: "better words", edit: { problem: "Too late to edit." } });
    answers["edit-message"] = () => ({ ok: true, editedAt: 1 });
    await view.writing.save();
    expect(view.writing.edit).toBeUndefined();
  });

  it("without a connection stays in the composer at once, and is not asked for later by itself", async () => {
    await enter("first");
    dialled.line.close();
    await save();
    expect(view.writing).toMatchObject({
      text: "better words",
      edit: { problem: "There is no connection to the room." },
    });
    let asked = 0;
    answers["edit-message"] = () => ({ ok: ++asked > 0 });
    await enter("first");
    expect(asked).toBe(0);
  });
});

it("without a connection, and where it breaks before the answer, no message is reported as gone", async () => {
  await enter("first");
  dialled.line.close();
  await vi.advanceTimersByTimeAsync(0);
  await view.store.jumpTo(7);
  expect(view.notice).toBe("That message cannot be loaded without a connection.");
  await enter("first");
  await view.store.jumpTo(7);
  expect(view.notice).toBe("That message is not there any more.");
  // A question that the connection takes with it.
  delete answers["history"];
  const jumping = view.store.jumpTo(7);
  dialled.line.close();
  await jumping;
  expect(view.notice).toBe("That message cannot be loaded without a connection.");
});

it("every failed message can be sent again, even beyond the number kept", async () => {
  await enter("first");
  answers["chat-message"] = () => ({ error: { code: "MUTED", message: "You are muted" } });
  for (let n = 0; n <= FAILED_MAX; n++) {
    view.composing.post(`m${n}`);
    await vi.advanceTimersByTimeAsync(0);
  }
  let seq = 0;
  answers["chat-message"] = () => ({ ok: true, id: `${++seq}`, seq, timestamp: 1 });
  for (const failed of view.state.messages.outgoing) void view.store.retry(failed);
  await vi.advanceTimersByTimeAsync(0);
  expect([view.state.messages.outgoing, shown().length]).toEqual([[], FAILED_MAX + 1]);
});

it("without any token it stops, with the reason", async () => {
  view.leave();
  let asked = 0;
  view = begin(() => {
    asked += 1;
    throw new TokenNeeded("This chat needs a token.");
  });
  await vi.advanceTimersByTimeAsync(600_000);
  expect([asked, view.connection]).toEqual([
    1,
    { kind: "stopped", code: "TOKEN_NEEDED", message: "This chat needs a token.", isTokenNeeded: true },
  ]);
});

it("a token that only the reader can replace keeps the connection until it ends, and the reader is asked then", async () => {
  view.leave();
  view = begin(undefined, () => Promise.reject(new TokenNeeded("Your token is not accepted any more.")));
  await enter("first");
  await dialled.emit("notice", { code: "TOKEN_EXPIRING", message: "Your token ends soon." });
  expect([view.connection.kind, view.isOver]).toEqual(["connected", false]);
  await dialled.emit("notice", { code: "TOKEN_EXPIRED", message: "Your token has ended." });
  dialled.line.receive("41");
  await vi.advanceTimersByTimeAsync(60_000);
  // The reader reads that their session has ended, and an embedding page hears that a token is needed.
  expect(view.connection).toMatchObject({ kind: "stopped", code: "TOKEN_EXPIRED", isTokenNeeded: true });
  expect(view.isOver).toBe(true);
});

it("where the user id is another claim than `sub`, what the reader typed before the room answered stays in the field, and is theirs", async () => {
  vi.stubGlobal("localStorage", new FakeLocalStorage());
  vi.stubGlobal("sessionStorage", new FakeLocalStorage());
  onTestFinished(() => void vi.unstubAllGlobals());
  view.leave();
  let iat = 0;
  view = begin(
    () => `.${btoa(JSON.stringify({ sub: "4711", email: "ada", iat: ++iat, role: iat > 1 ? "reader" : "member" }))}.`,
  );
  await vi.advanceTimersByTimeAsync(0);
  view.writing.write("half a");
  view.composingIn("first-1").writing.write("in a thread");
  const typed = (): string[] => [view.writing.text, view.composingIn("first-1").writing.text];
  await enter("first");
  expect(typed()).toEqual(["half a", "in a thread"]);
  view.writing.write("half a sentence");
  // With the next token, and with the next connection.
  await dialled.emit("notice", { code: "TOKEN_EXPIRING", message: "Your token ends soon." });
  expect([iat, ...typed()]).toEqual([2, "half a sentence", "in a thread"]);
  dialled.line.close();
  await enter("first");
  expect(typed()).toEqual(["half a sentence", "in a thread"]);
  expect(Object.keys(localStorage).filter((key) => key.includes("4711"))).toEqual([]);
  // Somebody else sees none of it.
  dialled.line.close();
  await enter("first", "ben");
  expect(typed()).toEqual(["", ""]);
});

it("a right-to-left name does not reorder the words around it", async () => {
  await enter("first");
  const [spoofed, hebrew] = ["\u202EnimdA\u2066", "\u05D0\u05D3\u05D4"];
  await dialled.emit("chat-message", { ...messageOf(1, "hello"), name: spoofed });
  await dialled.emit("chat-message", { ...messageOf(2, "shalom"), sender: "ada-2", name: hebrew });
  await dialled.emit("typing", { user: "ben", name: spoofed, on: true });
  await dialled.emit("moderation", { action: "mute", by: "ben", user: "ada-2", at: 1 });
  const isolated = `\u2068${hebrew}\u2069`;
  expect(announced).toEqual(["nimdA: hello", `${isolated}: shalom`, `NimdA muted ${isolated}`]);
  expect(typingLine(view.state.typing)).toBe("nimdA is typing…");
});

it("the line about a moderator's action goes after a while, and with the end of the connection", async () => {
  const unmute = (): Promise<void> => dialled.emit("moderation", { action: "unmute", by: "ben", user: "ada", at: 1 });
  answers["presence"] = () => ({ ok: true, members: [], count: 1 });
  await enter("first");
  await unmute();
  await vi.advanceTimersByTimeAsync(10_000);
  // The same again stays as long.
  await unmute();
  await vi.advanceTimersByTimeAsync(14_000);
  expect(view.notice).toBe("Ben unmuted you");
  await vi.advanceTimersByTimeAsync(1000);
  expect(view.notice).toBe("");
  await unmute();
  expect(view.notice).toBe("Ben unmuted you");
  await dialled.emit("notice", { code: "KICKED", message: "You were kicked from this room." });
  dialled.line.receive("41");
  await vi.advanceTimersByTimeAsync(0);
  expect([view.connection.kind, view.notice]).toEqual(["stopped", ""]);
});

describe("unsent messages of another name", () => {
  const tokenOf = (user: string): string => `.${Buffer.from(JSON.stringify({ sub: user })).toString("base64url")}.`;
  const [before, now, stranger] = ["a", "b", "c"].map((digit) => `guest-${digit.repeat(16)}`) as [
    string,
    string,
    string,
  ];

  async function leave(user: string, content: string): Promise<void> {
    const order = Date.now();
    const message = { v: 1, clientMsgId: content, content, order, user };
    localStorage.setItem(`parley.outbox http://chat.example general ${content}`, JSON.stringify(message));
    await vi.advanceTimersByTimeAsync(1);
  }
  const outgoing = (): unknown[] =>
    view.state.messages.outgoing.map(({ content, state, error }) => ({ content, state, code: error?.code }));

  beforeEach(() => {
    view.leave();
    const local = new FakeLocalStorage();
    vi.stubGlobal("localStorage", local);
    vi.stubGlobal("sessionStorage", new FakeLocalStorage());
    vi.stubGlobal("window", { localStorage: local });
    identity.forget();
  });
  afterEach(() => {
    identity.forget();
    vi.unstubAllGlobals();
  });

  it("of a guest that this browser was before a token ended: is this guest's", async () => {
    identity.keepGuest("Ada", tokenOf(before));
    await leave(before, "hello");
    identity.keepGuest("Ada", tokenOf(now));
    view = begin(() => tokenOf(now));
    await vi.advanceTimersByTimeAsync(0);
    expect(outgoing()).toEqual([{ content: "hello", state: "queued", code: undefined }]);
    answers["chat-message"] = () => ({ ok: true, id: "1", seq: 1, timestamp: 1 });
    await enter("first", now);
    expect([outgoing(), shown()]).toEqual([[], ["hello"]]);
  });

  it("of another guest of this browser: is shown, and sent when the reader confirms", async () => {
    await leave(stranger, "hello");
    identity.keepGuest("Ada", tokenOf(now));
    view = begin(() => tokenOf(now));
    await enter("first", now);
    expect(outgoing()).toEqual([{ content: "hello", state: "failed", code: "OTHER_USER" }]);
    answers["chat-message"] = () => ({ ok: true, id: "1", seq: 1, timestamp: 1 });
    void view.store.retry(view.state.messages.outgoing[0]!);
    await vi.advanceTimersByTimeAsync(0);
    expect([outgoing(), shown()]).toEqual([[], ["hello"]]);
  });

  it("of a reader who gave another name in this tab: needs a confirmation, too", async () => {
    identity.keepGuest("Ben", tokenOf(before));
    await leave(before, "hello");
    identity.keepGuest("Ada", tokenOf(now));
    view = begin(() => tokenOf(now));
    await enter("first", now);
    expect(outgoing()).toMatchObject([{ content: "hello", code: "OTHER_USER" }]);
  });

  it("of a user with a token of their own: stays theirs, and hidden", async () => {
    await leave("carla", "private");
    identity.keepGuest("Ada", tokenOf(now));
    view = begin(() => tokenOf(now));
    await vi.advanceTimersByTimeAsync(0);
    expect(outgoing()).toEqual([]);
    expect(localStorage.getItem("parley.outbox http://chat.example general private")).not.toBeNull();
  });
});
