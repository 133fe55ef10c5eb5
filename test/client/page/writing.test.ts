// Tests the composer's state: no typed text is lost by starting something else, by refusals or by reloads.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Attachment } from "../../../src/protocol/chat-events.ts";
import { UPLOADED_MAX_MS } from "../../../client/page/state/drafts.ts";
import { Writing } from "../../../client/page/state/writing.ts";
import { FakeLocalStorage } from "../../host/fake-local-storage.ts";

/** The room's answers to edits, in order: the reason of a refusal, or empty on success. */
let answers: Array<Promise<string> | string>;
let saved: string[];

beforeEach(() => {
  vi.stubGlobal("localStorage", new FakeLocalStorage());
  vi.stubGlobal("sessionStorage", new FakeLocalStorage());
  answers = [];
  saved = [];
});
afterEach(() => vi.unstubAllGlobals());

const ORIGIN = "http://chat.example";
const ADA = { user: "ada", name: "Ada" };

/** A page without a token yet. */
function begin(room = "general"): Writing {
  const save = async (id: string, content: string): Promise<string> => {
    saved.push(`${id}: ${content}`);
    return (await answers.shift()) ?? "";
  };
  return new Writing({ base: ORIGIN, room, changed: () => {}, save });
}

function open(room?: string, writer: { user: string; name: string } = ADA): Writing {
  const writing = begin(room);
  writing.setWriter(writer);
  return writing;
}
const message = { id: "7", content: "first words" };

describe("a draft", () => {
  it("survives a reload with its quoted message, in its own room only", () => {
    const writing = open();
    writing.reply("3");
    writing.write("half a rep");
    expect(open()).toMatchObject({ text: "half a rep", replyTo: "3" });
    expect(open("other")).toMatchObject({ text: "", replyTo: undefined });
    writing.sent();
    expect(open()).toMatchObject({ text: "", replyTo: undefined });
    expect(localStorage.length).toBe(0);
  });

  it.each<[string, (writing: Writing) => unknown]>([
    ["saved", (writing) => writing.save()],
    ["cancelled", (writing) => writing.cancel()],
    ["begun on another message", (writing) => (writing.beginEdit({ id: "8", content: "x" }), writing.cancel())],
  ])("comes back when an edit is %s", async (_how, end) => {
    const writing = open();
    writing.reply("3");
    writing.write("my draft");
    writing.beginEdit(message);
    expect(writing.text).toBe("first words");
    writing.write("better words");
    await end(writing);
    expect(writing).toMatchObject({ text: "my draft", replyTo: "3", edit: undefined });
    expect(open()).toMatchObject({ text: "my draft", replyTo: "3", edit: undefined });
  });

  it("is still kept while a message is edited, and so is the edit", () => {
    const writing = open();
    writing.write("my draft");
    writing.beginEdit(message);
    writing.write("better wor");
    const next = open();
    expect(next).toMatchObject({ text: "better wor", edit: { id: "7", original: "first words" } });
    next.cancel();
    expect(next.text).toBe("my draft");
    expect(open().text).toBe("my draft");
  });

  it("the composer opens with any content in the storage", () => {
    const strange = ['{"text":1,"replyTo":{},"edit":{"id":"7"}}', '{"aside":[null,7],"uploaded":{"files":7}}'];
    open().write("x");
    const key = localStorage.key(0)!;
    for (const kept of ["", "7", "[]", '{"edit":null}', ...strange]) {
      localStorage.setItem(key, kept);
      expect(open()).toMatchObject({ text: "", replyTo: undefined, edit: undefined, files: [], isEditWaiting: false });
    }
  });
});

describe("the writer of a draft", () => {
  const guest = (digit: string, name: string) => ({ user: `guest-${digit.repeat(16)}`, name });

  it("belongs to one reader: the next reader of this browser finds nothing, and the first one finds it on coming back", () => {
    open().write("dear diary");
    expect(open("general", { user: "ben", name: "Ada" }).text).toBe("");
    expect(open().text).toBe("dear diary");
  });

  it("is a guest's by the name, for the id is another one each time", () => {
    open("general", guest("a", "Ada")).write("half a rep");
    expect(open("general", guest("b", "Ben")).text).toBe("");
    expect(open("general", guest("c", "Ada")).text).toBe("half a rep");
    // A guest's name makes no user a guest.
    expect(open("general", { user: "guest Ada", name: "Ada" }).text).toBe("");
  });

  it("is of one server only", () => {
    open().write("half a rep");
    const elsewhere = new Writing({ base: "http://b.example", room: "general", changed() {}, save: async () => "" });
    elsewhere.setWriter(ADA);
    expect(elsewhere.text).toBe("");
  });

  it("changes with the token's user: each has a draft, with edits and replies, of their own", () => {
    const writing = open();
    writing.beginEdit(message);
    writing.write("better wor");
    writing.setWriter({ user: "ben", name: "Ben" });
    expect(writing).toMatchObject({ text: "", edit: undefined });
    writing.write("ben here");
    writing.setWriter(ADA);
    expect(writing).toMatchObject({ text: "better wor", edit: { id: "7" } });
  });

  it("text typed before the token arrives survives a reload, and is appended to the draft", () => {
    open().write("half a rep");
    begin().write("er at");
    const writing = begin();
    expect(writing.text).toBe("er at");
    writing.setWriter(ADA);
    expect(writing.text).toBe("half a rep\ner at");
    writing.sent();
    expect([open().text, begin().text]).toEqual(["", ""]);
  });
});

describe("two tabs of one reader", () => {
  it("share the draft: each shows what was typed, sent or begun in the other", () => {
    const [one, other] = [open(), open()];
    one.write("half a rep");
    other.refresh();
    expect(other.text).toBe("half a rep");
    other.write("half a reply");
    one.refresh();
    one.reply("3");
    other.refresh();
    expect(other).toMatchObject({ text: "half a reply", replyTo: "3" });
    other.sent();
    one.refresh();
    expect(one).toMatchObject({ text: "", replyTo: undefined });
  });

  it("each keeps its own text where the browser stores nothing more", () => {
    const writing = open();
    writing.write("first");
    vi.spyOn(localStorage, "setItem").mockImplementation(() => {
      throw new Error("full");
    });
    writing.write("first and second");
    writing.refresh();
    expect(writing.text).toBe("first and second");
  });
});

describe("files that wait for their message", () => {
  const fileOf = (name: string): Attachment => ({ key: name, name, type: "text/plain", size: 1 });
  const names = (writing: Writing): string[] => writing.files.map(({ name }) => name);
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("are there after a reload, until they are sent or taken away", () => {
    const writing = open();
    writing.attach([fileOf("a.txt"), fileOf("b.txt")]);
    expect(names(open())).toEqual(["a.txt", "b.txt"]);
    writing.attach([fileOf("b.txt")]);
    expect(names(open())).toEqual(["b.txt"]);
    writing.sent();
    expect([names(open()), localStorage.length]).toEqual([[], 0]);
  });

  it("are not shown where the room would refuse them: to another user, or after an hour", () => {
    const [before, after] = ["a", "b"].map((digit) => ({ user: `guest-${digit.repeat(16)}`, name: "Ada" }));
    const writing = open("general", before);
    writing.write("see this");
    writing.attach([fileOf("a.txt")]);
    const other = open("general", after);
    expect(other).toMatchObject({ text: "see this", files: [] });
    // Their user finds the files again, although that tab has changed the text.
    other.write("see that");
    other.sent();
    writing.refresh();
    expect([writing.text, names(writing)]).toEqual(["", ["a.txt"]]);
    writing.write("see this");

    writing.attach([fileOf("b.txt")]);
    writing.setWriter(after!);
    expect(writing).toMatchObject({ text: "see this", files: [] });

    open().attach([fileOf("c.txt")]);
    vi.advanceTimersByTime(UPLOADED_MAX_MS - 1);
    expect(names(open())).toEqual(["c.txt"]);
    vi.advanceTimersByTime(1);
    expect(names(open())).toEqual([]);
  });
});

describe("an edit", () => {
  const edit = (text: string): Writing => {
    const writing = open();
    writing.beginEdit(message);
    writing.write(text);
    return writing;
  };

  it("waits while a reply is written, and is there again once that is sent, also after a reload", () => {
    edit("better wor").reply("3");
    const writing = open();
    expect(writing).toMatchObject({ text: "", replyTo: "3", edit: undefined, isEditWaiting: true });
    writing.write("a reply");
    writing.sent();
    expect(writing).toMatchObject({ text: "better wor", edit: { original: "first words" }, isEditWaiting: false });
    writing.reply("4");
    writing.cancel();
    expect(open()).toMatchObject({ text: "better wor", edit: { id: "7" } });
  });

  it("waits while another message is edited, and keeps its text when the reader returns to it", async () => {
    const writing = edit("better wor");
    writing.beginEdit({ id: "8", content: "others" });
    writing.write("other words");
    writing.beginEdit(message);
    expect(writing.text).toBe("better wor");
    await writing.save();
    expect(writing).toMatchObject({ text: "other words", edit: { id: "8", original: "others" } });
    await writing.save();
    expect([saved, writing.edit, localStorage.length]).toEqual([["7: better wor", "8: other words"], undefined, 0]);
  });

  it("of an unchanged text is dropped when the reader begins something else", () => {
    const writing = edit("first words");
    writing.reply("3");
    writing.cancel();
    expect(writing.edit).toBeUndefined();
  });

  it("that was put aside while it was being saved is gone if the room saves it, and waits if not", async () => {
    for (const problem of ["", "Too late."]) {
      answers = [Promise.resolve(problem)];
      const writing = edit("better words");
      const done = writing.save();
      writing.reply("3");
      await done;
      expect(writing.isEditWaiting).toBe(problem !== "");
      writing.sent();
      expect(writing.text).toBe(problem === "" ? "" : "better words");
      writing.cancel();
    }
  });

  it("that is refused stays, with the reason, and can be saved again", async () => {
    answers = ["Too late."];
    const writing = edit("better words");
    await writing.save();
    expect(writing).toMatchObject({ text: "better words", edit: { problem: "Too late.", isSaving: false } });
    expect(open().text).toBe("better words");
    await writing.save();
    expect([writing.edit, saved]).toEqual([undefined, ["7: better words", "7: better words"]]);
    expect(localStorage.length).toBe(0);
  });

  it("of an unchanged text is not sent to the room", async () => {
    const writing = edit(" first words\n");
    await writing.save();
    expect([writing.edit, saved]).toEqual([undefined, []]);
  });

  it("is sent once, and shown as being saved", async () => {
    const writing = edit("better words");
    const done = writing.save();
    expect(writing.edit).toMatchObject({ isSaving: true });
    await Promise.all([done, writing.save()]);
    expect(saved).toHaveLength(1);
  });

  it("that was discarded, and followed by another, leaves that one alone", async () => {
    let answer!: (problem: string) => void;
    answers = [new Promise((resolve) => (answer = resolve))];
    const writing = edit("better words");
    const done = writing.save();
    writing.cancel();
    writing.beginEdit({ id: "8", content: "second words" });
    answer("Too late.");
    await done;
    expect(writing).toMatchObject({ text: "second words", edit: { id: "8", problem: "" } });
  });

  it("in a room that was left meanwhile has no effect after the return", async () => {
    let answer!: (problem: string) => void;
    answers = [new Promise((resolve) => (answer = resolve))];
    const writing = edit("better words");
    const done = writing.save();
    writing.close();
    const back = open();
    back.cancel();
    back.write("something new");
    answer("");
    await done;
    expect(open().text).toBe("something new");
  });
});

describe("an edit of a message that somebody else changes", () => {
  const follows = (writing: Writing, now: string | null | undefined): Writing => {
    writing.follow(() => now);
    return writing;
  };

  it("follows it while nothing was written, and keeps what was written", async () => {
    const writing = open();
    writing.write("my draft");
    writing.beginEdit(message);
    expect(follows(writing, undefined).text).toBe("first words");
    expect(follows(writing, "new words").text).toBe("new words");
    writing.write("mine");
    expect(follows(writing, "newer words").text).toBe("mine");
    writing.write("new words");
    await writing.save();
    expect(saved).toEqual(["7: new words"]);
  });

  it("ends with it, but for words that were written; one that waits ends, too", () => {
    const writing = open();
    writing.write("my draft");
    writing.beginEdit(message);
    expect(follows(writing, null)).toMatchObject({ text: "my draft", edit: undefined });
    writing.beginEdit(message);
    writing.write("mine");
    expect(follows(writing, null).text).toBe("mine");
    writing.reply("3");
    expect(writing.isEditWaiting).toBe(true);
    expect(follows(writing, null).isEditWaiting).toBe(false);
  });
});
