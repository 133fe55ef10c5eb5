// A room's moderation hook for posts and edits: decisions, order, retries, and sanctions that begin while a decision is awaited.
import { describe, expect, it, vi } from "vitest";

import { REASON_LENGTH_MAX, DECISION_MS_MAX, type PostVerdict } from "../../../src/chat/room/post-decision.ts";
import type { Attachment } from "../../../src/protocol/chat-events.ts";
import { expiresIn } from "../../host/chat-room.ts";
import type { Call, Client } from "../../host/harness.ts";
import { OK, refusalOf, SERVICE } from "../../host/moderated-room.ts";
import { RuledRoom } from "../../host/ruled-room.ts";

interface Cast {
  readonly room: RuledRoom;
  readonly ada: Client;
  readonly ben: Client;
}

async function cast(...given: ConstructorParameters<typeof RuledRoom>): Promise<Cast> {
  const room = new RuledRoom(...given);
  return { room, ada: await room.join({ user: "ada", name: "Ada" }), ben: await room.join("ben") };
}

const contentsSeen = (client: Client): string[] => client.received("chat-message").map(({ content }) => content);

describe("a room's moderation hook", () => {
  it("RULE-1: are asked before any member sees a post, and get its author and room", async () => {
    const { room, ada, ben } = await cast();
    const post = ada.call("chat-message", { content: " hello ", clientMsgId: "c-1" });
    expect(room.asked[0]).toMatchObject({
      message: { content: "hello", clientMsgId: "c-1" },
      context: { kind: "post", user: "ada", name: "Ada", role: "member", room: "plaza" },
    });
    expect([room.log.messages, contentsSeen(ben), post.acks]).toEqual([[], [], []]);
    await room.about("hello").decide();
    expect(post.answer).toMatchObject({ ok: true, seq: 1 });
    expect(contentsSeen(ben)).toEqual(["hello"]);
  });

  it("RULE-1: are asked about edits", async () => {
    const { room, ada, ben } = await cast();
    room.answerAtOnce("fine", undefined);
    room.answerAtOnce("worse", { reject: "Not that." });
    const { id } = await ada.ask("chat-message", { content: "fine" });
    expect(await ada.ask("edit-message", { id, content: "worse" })).toEqual({
      error: { code: "REJECTED", message: "Not that." },
    });
    expect(ben.received("message-edited")).toEqual([]);
    expect(room.contents).toEqual(["fine"]);
    const edit = ada.call("edit-message", { id, content: "better" });
    const asked = room.about("better");
    expect(asked).toMatchObject({ message: { id, content: "better" }, context: { kind: "edit", user: "ada" } });
    await asked.decide();
    expect(edit.answer).toMatchObject({ ok: true });
    expect(room.contents).toEqual(["better"]);
  });

  it("RULE-1: are not asked about requests that change nothing, nor about those that the room refuses by itself", async () => {
    const { room, ada, ben } = await cast();
    room.answerAtOnce("fine", undefined);
    const { id } = await ada.ask("chat-message", { content: "fine" });
    const reader = await room.join({ user: "rita", role: "reader" });
    expect(await ada.ask("edit-message", { id, content: "fine" })).toMatchObject({ ok: true });
    expect(await ben.ask("edit-message", { id, content: "other" })).toMatchObject(refusalOf("FORBIDDEN"));
    expect(await ben.ask("chat-message", { content: "x".repeat(1001) })).toMatchObject(refusalOf("TOO_LONG"));
    expect(await ben.ask("chat-message", { content: "re", replyTo: "none" })).toMatchObject(refusalOf("NOT_FOUND"));
    expect(await reader.ask("chat-message", { content: "hm" })).toMatchObject(refusalOf("FORBIDDEN"));
    expect(room.asked).toHaveLength(1);
  });

  it("RULE-1: are asked about posts of the HTTP API", async () => {
    const { room } = await cast();
    room.answerAtOnce("spam", { reject: "No spam here." });
    expect(await room.ask("chat-message", SERVICE, { content: "spam" })).toEqual({
      error: { code: "REJECTED", message: "No spam here." },
    });
    expect(room.about("spam").context).toMatchObject({ user: "backend", role: "service" });
  });

  it("RULE-1: that answer at once cost no turn: the post is acked in the turn in which it came", async () => {
    const { room, ada } = await cast();
    room.answerAtOnce("hello", undefined);
    const post = ada.call("chat-message", { content: "hello" });
    expect(post.answer).toMatchObject({ ok: true, seq: 1 });
  });

  it("RULE-1: cannot change a post by changing the object that they get", async () => {
    const { room, ada } = await cast();
    room.answerAtOnce("hello", () => {
      Object.assign(room.about("hello").message, { content: "forged" });
      return undefined;
    });
    await ada.ask("chat-message", { content: "hello" });
    expect(room.contents).toEqual(["hello"]);
  });
});

describe("a decision", () => {
  it("RULE-2: replaces the text, which then passes the rules of a text", async () => {
    const { room, ada, ben } = await cast();
    room.answerAtOnce("darn", { content: " d**n " });
    room.answerAtOnce("long", { content: "x".repeat(1001) });
    expect(await ada.ask("chat-message", { content: "darn", clientMsgId: "c-1" })).toMatchObject({ ok: true });
    expect(ben.received("chat-message")[0]).toMatchObject({ content: "d**n", clientMsgId: "c-1", sender: "ada" });
    expect(await ada.ask("chat-message", { content: "long" })).toMatchObject(refusalOf("TOO_LONG"));
  });

  it("RULE-2: gets the files of a post as a message has them, in whichever form they were posted, and may replace them", async () => {
    const { room, ada } = await cast();
    const upload = async (id: number): Promise<Attachment> => {
      const answer = Promise.withResolvers<object>();
      const facts = { id: String(id).padStart(20, "0"), name: "a.png", type: "image/png", size: 1 };
      await room.chat.calls.permitUpload({ user: "ada", name: "Ada", role: "member" }, facts, answer.resolve);
      return ((await answer.promise) as { readonly attachment: Attachment }).attachment;
    };
    const [one, two] = [await upload(1), await upload(2)];
    room.answerAtOnce("two", undefined);
    await ada.ask("chat-message", { content: "two", attachments: [one, two] });
    expect(room.about("two").message).toMatchObject({ attachment: one, attachments: [one, two] });
    room.answerAtOnce("one", { attachment: two });
    await ada.ask("chat-message", { content: "one", attachments: [one, two] });
    room.answerAtOnce("list", { attachments: [two, one] });
    await ada.ask("chat-message", { content: "list", attachment: one });
    const files = room.log.messages.map(({ attachment, attachments }) => ({ attachment, attachments }));
    expect(files).toEqual([
      { attachment: one, attachments: [one, two] },
      { attachment: two },
      { attachment: two, attachments: [two, one] },
    ]);
  });

  it.each([
    { attachment: { id: "x" } },
    { attachments: [] },
    { replyTo: "nope" },
    { content: "other", replyTo: "nope" },
  ])("RULE-2: fails where it gives an edit what only a post has: %j", async (given) => {
    const { room, ada } = await cast();
    room.answerAtOnce("fine", undefined);
    const { id } = await ada.ask("chat-message", { content: "fine" });
    room.answerAtOnce("better", given as unknown as PostVerdict);
    expect(await ada.ask("edit-message", { id, content: "better" })).toMatchObject(refusalOf("INTERNAL"));
    expect(room.contents).toEqual(["fine"]);
    expect(room.shell.problems.map(({ error }) => String(error))).toEqual([
      expect.stringContaining("an edit can be given another content only"),
    ]);
  });

  it("RULE-2: rejects with the reason, without an ack callback as event `error`", async () => {
    const { room, ada, ben } = await cast();
    room.answerAtOnce("spam", { reject: "No spam here." });
    room.answerAtOnce("long", { reject: "x".repeat(REASON_LENGTH_MAX + 1) });
    ada.emit("chat-message", { content: "spam" });
    expect(ada.received("error")).toEqual([{ code: "REJECTED", message: "No spam here." }]);
    const { error } = await ada.ask("chat-message", { content: "long" });
    expect(error.message).toHaveLength(REASON_LENGTH_MAX);
    expect([room.contents, contentsSeen(ben)]).toEqual([[], []]);
  });

  it.each([
    ["true", true],
    ["a text", "no"],
    ["an object without a verdict", {}],
    ["a reason that is no text", { reject: 1 }],
    ["an empty reason", { reject: "" }],
    ["a text that is none", { content: 5 }],
    ["a reply to nothing", { replyTo: 5 }],
  ])("RULE-6: %s is no verdict: the sender may try again, and the operator reads why", async (_, given) => {
    const { room, ada } = await cast();
    room.answerAtOnce("hello", given as unknown as PostVerdict);
    expect(await ada.ask("chat-message", { content: "hello" })).toMatchObject(refusalOf("INTERNAL"));
    expect(room.shell.problems).toEqual([{ problem: "beforePost failed", error: expect.any(Error) }]);
    expect(String(room.shell.problems[0]!.error)).toContain("beforePost");
  });
});

describe("the order of posts", () => {
  it("RULE-3: does not make others wait", async () => {
    const { room, ada, ben } = await cast();
    ada.emit("chat-message", { content: "slow" });
    room.answerAtOnce("quick", undefined);
    expect(ben.call("chat-message", { content: "quick" }).answer).toMatchObject({ ok: true, seq: 1 });
    await room.about("slow").decide();
    expect(room.contents).toEqual(["quick", "slow"]);
  });
});

describe("a post sent again", () => {
  it("RULE-4: while its decision is awaited, waits for that decision, also over another connection", async () => {
    const { room, ada } = await cast();
    const back = await room.join("ada");
    const first = ada.call("chat-message", { content: "hello", clientMsgId: "c-1" });
    ada.leave();
    const again = back.call("chat-message", { content: "hello", clientMsgId: "c-1" });
    await room.about("hello").decide();
    expect(first.acks).toEqual([]);
    expect(again.answer).toMatchObject({ ok: true, seq: 1, duplicate: true });
    expect(room.contents).toEqual(["hello"]);
  });

  it("RULE-4: after its rejection, is rejected without asking", async () => {
    const { room, ada } = await cast();
    room.answerAtOnce("spam", { reject: "No spam here." });
    const spam = { content: "spam", clientMsgId: "c-1" };
    const first = await ada.ask("chat-message", spam);
    expect(await ada.ask("chat-message", spam)).toEqual(first);
    expect(room.asked).toHaveLength(1);
    room.shell.advance(10 * 60_000 + 1);
    expect(await ada.ask("chat-message", spam)).toEqual(first);
    expect(room.asked).toHaveLength(2);
  });

  it("RULE-4: that was accepted and refused by the room is not asked about again, and keeps its text", async () => {
    const { room, ada } = await cast();
    const ask = (content: string): Promise<unknown> => ada.ask("chat-message", { content, clientMsgId: "c-1" });
    const post = ada.call("chat-message", { content: "hello", clientMsgId: "c-1" });
    await room.ask("mute", SERVICE, { user: "ada", seconds: 10 });
    await room.about("hello").decide({ content: "HELLO" });
    expect(post.answer).toMatchObject(refusalOf("MUTED"));
    room.shell.advance(10_001);
    expect(await ask("something else")).toMatchObject({ ok: true });
    expect(room.contents).toEqual(["HELLO"]);
    expect(room.asked).toHaveLength(1);
  });

  it("RULE-4: that could not be checked is asked about again", async () => {
    const { room, ada } = await cast();
    const post = ada.call("chat-message", { content: "hello", clientMsgId: "c-1" });
    await room.about("hello").fail(new Error("no network"));
    expect(post.answer).toMatchObject(refusalOf("INTERNAL"));
    room.answerAtOnce("hello", undefined);
    expect(await ada.ask("chat-message", { content: "hello", clientMsgId: "c-1" })).toMatchObject({ ok: true });
  });
});

describe("while a decision is awaited", () => {
  const during = async (act: (given: Cast) => Promise<unknown>): Promise<Cast & { post: Call<unknown> }> => {
    const given = await cast();
    const { room, ada } = given;
    const post = ada.call("chat-message", { content: "hello", clientMsgId: "c-1" });
    await act(given);
    await room.about("hello").decide();
    return { ...given, post };
  };
  const moderate = async ({ room }: Cast, event: string, payload: object): Promise<void> => {
    expect(await room.ask(event, SERVICE, payload)).toMatchObject(OK);
  };

  it.each(["ban", "kick"])("RULE-5: a %s refuses posts from before it", async (event) => {
    const { room, ben } = await during((given) => moderate(given, event, { user: "ada" }));
    expect([room.contents, contentsSeen(ben)]).toEqual([[], []]);
  });

  it("RULE-5: a role that was granted counts, and the rules do not get it", async () => {
    const given = await cast();
    await moderate(given, "read-only", { on: true });
    await moderate(given, "grant", { user: "ada", role: "moderator" });
    const post = given.ada.call("chat-message", { content: "hello" });
    await moderate(given, "revoke", { user: "ada" });
    await given.room.about("hello").decide();
    expect(post.answer).toMatchObject(refusalOf("ROOM_READ_ONLY"));
  });

  it("RULE-5: slow mode counts from the moment at which the room takes the post, and comes to rest", async () => {
    const { room, ada } = await cast();
    await room.ask("slow-mode", SERVICE, { seconds: 3 });
    const [first, second] = ["1", "2"].map((content) => ada.call("chat-message", { content }));
    room.shell.advance(2000);
    await room.about("2").decide();
    await room.about("1").decide();
    expect(first!.answer).toMatchObject({ ok: true });
    expect(second!.answer).toMatchObject(refusalOf("SLOW_MODE"));
    room.shell.advance(2999);
    room.answerAtOnce("3", undefined);
    expect(await ada.ask("chat-message", { content: "3" })).toMatchObject(refusalOf("SLOW_MODE"));
    room.shell.advance(1);
    expect(await ada.ask("chat-message", { content: "3" })).toMatchObject({ ok: true });
  });

  it("RULE-5: a broken connection changes nothing: an accepted post is stored", async () => {
    const { ben } = await during(async ({ ada }) => ada.leave());
    expect(contentsSeen(ben)).toEqual(["hello"]);
  });

  it("RULE-5: the end of the token refuses posts from before it, unless it was refreshed", async () => {
    const room = new RuledRoom();
    const [ada, ben] = await Promise.all(
      ["ada", "ben"].map((user) => room.joinWithToken(room.token({ user, exp: expiresIn(2) }))),
    );
    ada!.emit("chat-message", { content: "a" });
    const post = ben!.call("chat-message", { content: "b" });
    const refresh = ben!.call("refresh-token", { token: room.token({ user: "ben" }) });
    await vi.waitFor(() => expect(refresh.answer).toMatchObject(OK));
    room.shell.advance(3000);
    await room.about("a").decide();
    await room.about("b").decide();
    expect(post.answer).toMatchObject({ ok: true });
    expect(room.contents).toEqual(["b"]);
  });

  it("RULE-8: the deletion of the room is final: nothing of before reaches its next log", async () => {
    const { room, ada } = await cast();
    const post = room.call("chat-message", "backend", { content: "1" });
    ada.emit("chat-message", { content: "2" });
    room.chat.calls.prepareErase();
    expect(post.answer).toMatchObject(refusalOf("INTERNAL"));
    await room.about("1").decide();
    await room.about("2").decide();
    room.quiet();
    expect(room.contents).toEqual([]);
  });
});

describe("rules that fail", () => {
  it("RULE-6: by throwing refuse the post, and leave others alone", async () => {
    const { room, ada } = await cast();
    const thrown = new Error("a bug");
    room.answerAtOnce("hello", () => {
      throw thrown;
    });
    expect(await ada.ask("chat-message", { content: "hello" })).toMatchObject(refusalOf("INTERNAL"));
    expect(room.shell.problems).toEqual([{ problem: "beforePost failed", error: thrown }]);
  });

  it("RULE-6: by taking too long refuse the post at its time, and a late decision changes nothing", async () => {
    const { room, ada } = await cast({ rules: { timeoutMs: 1000 } });
    const [first, second] = ["1", "2"].map((content) => ada.call("chat-message", { content }));
    await room.about("2").decide();
    room.shell.advance(999);
    expect(first!.acks).toEqual([]);
    room.shell.advance(1);
    expect(first!.answer).toMatchObject(refusalOf("INTERNAL"));
    expect(second!.answer).toMatchObject({ ok: true, seq: 1 });
    await room.about("1").decide();
    expect(room.contents).toEqual(["2"]);
    await vi.waitFor(() => expect(room.shell.evict()).toBeUndefined());
  });

  it("RULE-6: accept the post where the room chooses that", async () => {
    const { room, ada } = await cast({ rules: { onFailure: "accept", timeoutMs: 1000 } });
    ada.emit("chat-message", { content: "1" });
    ada.emit("chat-message", { content: "2" });
    await room.about("2").fail(new Error("no network"));
    room.shell.advance(1000);
    expect(room.contents).toEqual(["1", "2"]);
    expect(room.shell.problems).toHaveLength(2);
  });

  it.each([0, -1, Number.NaN, DECISION_MS_MAX + 1])("RULE-6: a time limit of %s ms is no limit", async (timeoutMs) => {
    const { room, ada } = await cast({ rules: { timeoutMs } });
    expect(await ada.ask("chat-message", { content: "hello" })).toMatchObject(refusalOf("INTERNAL"));
    expect(String(room.shell.problems[0]!.error)).toContain("beforePostTimeoutMs");
  });
});

it("MET-1: decisions are counted, with the time that they took", async () => {
  const { room, ada } = await cast();
  room.answerAtOnce("spam", { reject: "no" });
  room.answerAtOnce("darn", { content: "d**n" });
  ada.emit("chat-message", { content: "spam" });
  ada.emit("chat-message", { content: "darn" });
  ada.emit("chat-message", { content: "fine" });
  room.shell.advance(2000);
  await room.about("fine").decide();
  expect(room.chat.room.meter.read()).toMatchObject({
    "verdicts:rejected": 1,
    "verdicts:replaced": 1,
    "verdicts:accepted": 1,
    "verdict:sum": 2,
    "rejects:REJECTED": 1,
  });
});
