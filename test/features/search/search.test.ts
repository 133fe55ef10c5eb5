// Search from the client's side: matches, their order, pages, and refusals.
import { describe, expect, it } from "vitest";

import type { FoundMessage } from "../../../src/protocol/chat-events.ts";
import { QUERY_WORDS_MAX, SEARCH_LIMIT_DEFAULT } from "../../../src/protocol/limits.ts";
import { MATCHES_MAX } from "../../../src/features/search/search-query.ts";
import { ChatRoom, ROOM, UNLIMITED } from "../../host/chat-room.ts";
import { EPOCH } from "../../host/memory-log.ts";
import { START_MS, type Client } from "../../host/harness.ts";

async function roomThatHeard(...contents: string[]): Promise<{ room: ChatRoom; ada: Client }> {
  const room = new ChatRoom({ messageRate: UNLIMITED, maxContentLength: 100_000 });
  const ada = await room.join("ada");
  for (const content of contents) ada.emit("chat-message", { content });
  room.quiet();
  return { room, ada };
}

/** The texts of the matches. */
const matched = ({ content, matches }: FoundMessage): string[] => matches.map(([from, to]) => content.slice(from, to));

describe("SRCH-1: a word is found in any case and with any accents", () => {
  it.each<[content: string, query: string, matches: string[]]>([
    ["Hello, World!", "hello ", ["Hello"]],
    ["Hello, World!", "WORLD ", ["World"]],
    ["Crème brûlée", "creme brulee", ["Crème", "brûlée"]],
    ["creme brulee", "CRÈME BRÛLÉE ", ["creme", "brulee"]],
    ["Cre\u0300me", "crème ", ["Cre\u0300me"]],
    ["Große Straße", "STRASSE ", ["Straße"]],
    ["ΟΔΟΣ ΣΟΦΟΣ", "οδος ", ["ΟΔΟΣ"]],
    ["İstanbul", "istanbul ", ["İstanbul"]],
    ["ｆｕｌｌ ｗｉｄｔｈ", "full ", ["ｆｕｌｌ"]],
    ["ﬁne", "fine ", ["ﬁne"]],
    ["привет, МИР", "Мир ", ["МИР"]],
    ["שָׁלוֹם", "שלום ", ["שָׁלוֹם"]],
    ["हिन्दी में", "हिन्दी ", ["हिन्दी"]],
    ["order 17 was paid", "17 ", ["17"]],
    ["see <b>bold</b>", "b ", ["b", "b"]],
    ["mail ada@example.org", "ada@example.org ", ["ada@example.org"]],
    ["don't stop", "don't ", ["don't"]],
    ["snake_case", "case ", ["case"]],
    ["party 🎉🎉 now", "🎉", ["🎉", "🎉"]],
    ["I ❤️ it", "❤", ["❤"]],
    ["I ❤ it", "❤️", ["❤"]],
    ["🇩🇪 wins", "🇩🇪", ["🇩🇪"]],
    ["brand™ new", "brand ", ["brand"]],
    ["ℹ️ see", "see ", ["see"]],
  ])("%j is found by %j", async (content, query, matches) => {
    const { ada } = await roomThatHeard("something else", content);
    const answer = await ada.ask("search", { query });
    expect(answer).toMatchObject({ ok: true, hasMore: false, messages: [{ seq: 2, content }] });
    expect(matched(answer.messages[0])).toEqual(matches);
  });

  it.each<[content: string, query: string]>([
    ["Hello, World!", "hell "],
    ["Hello, World!", "ello"],
    ["Hello, World!", "hello moon"],
    ["Hello, World!", '"world hello"'],
    ["Hello, World!", "helloworld"],
    ["don't", "dont "],
    ["Hello", "hel* hallo"],
  ])("%j is not found by %j", async (content, query) => {
    const { ada } = await roomThatHeard(content);
    expect(await ada.ask("search", { query })).toEqual({ ok: true, messages: [], hasMore: false, before: 1 });
  });
});

describe("SRCH-2: a query", () => {
  const contents = ["the quick brown fox", "the brown, quick fox", "quicksilver", "fox: the quick. Brown!"];
  it.each<[query: string, seqs: number[]]>([
    ["quick fox ", [4, 2, 1]],
    ["fox quick ", [4, 2, 1]],
    ["quick", [4, 3, 2, 1]],
    ["quick ", [4, 2, 1]],
    ["quick* ", [4, 3, 2, 1]],
    ["qui* fox ", [4, 2, 1]],
    ['"quick brown"', [4, 1]],
    ['"quick brown" fox ', [4, 1]],
    ['"quick bro', [4, 1]],
    ['"quick bro"', []],
    ["“brown quick”", [2]],
    ["„brown quick“", [2]],
    ['"" quick ', [4, 2, 1]],
    ["quick AND brown ", []],
    ["NEAR(quick brown)", []],
    ["terms:quick", []],
    ["-quick ", [4, 2, 1]],
    ["^fox ", [4, 2, 1]],
    ["quick' OR 1=1; --", []],
    ["quick\u0000brown ", [4, 1]],
    ["\ud800 quick ", [4, 2, 1]],
  ])("%j", async (query, seqs) => {
    const { ada } = await roomThatHeard(...contents);
    const answer = await ada.ask("search", { query });
    expect(answer.messages.map(({ seq }: FoundMessage) => seq)).toEqual(seqs);
  });

  it("finds messages of one author, with or without words", async () => {
    const { room, ada } = await roomThatHeard("tea", "coffee");
    const odd = { user: 'b"e*n', name: "Ben" };
    const ben = await room.join(odd);
    ben.emit("chat-message", { content: "tea too" });
    room.quiet();
    const seqs = async (payload: object): Promise<number[]> =>
      (await ada.ask("search", payload)).messages.map(({ seq }: FoundMessage) => seq);
    expect(await seqs({ query: "tea" })).toEqual([3, 1]);
    expect(await seqs({ query: "tea", from: "ada" })).toEqual([1]);
    expect(await seqs({ query: "tea", from: odd.user })).toEqual([3]);
    expect(await seqs({ from: "ada" })).toEqual([2, 1]);
    expect(await seqs({ from: "ad" })).toEqual([]);
    expect(await ada.ask("search", { from: odd.user })).toMatchObject({ messages: [{ matches: [] }] });
  });

  it("finds messages of a time, both bounds exclusive", async () => {
    const room = new ChatRoom({ messageRate: UNLIMITED });
    const ada = await room.join("ada");
    for (let i = 0; i < 5; i++) {
      ada.emit("chat-message", { content: "tick" });
      room.shell.advance(60_000);
    }
    const seqs = async (payload: object): Promise<number[]> =>
      (await ada.ask("search", { query: "tick", ...payload })).messages.map(({ seq }: FoundMessage) => seq);
    expect(await seqs({ afterTime: START_MS + 60_000 })).toEqual([5, 4, 3]);
    expect(await seqs({ beforeTime: START_MS + 60_000 })).toEqual([1]);
    expect(await seqs({ afterTime: START_MS, beforeTime: START_MS + 180_000 })).toEqual([3, 2]);
    expect(await seqs({ afterTime: START_MS, before: 3 })).toEqual([2]);
    expect(await seqs({ afterTime: START_MS + 10_000_000 })).toEqual([]);
    expect(await seqs({ beforeTime: 0 })).toEqual([]);
  });
});

describe("SRCH-3: scripts without spaces are found by any of their characters", () => {
  it.each<[content: string, query: string, matches: string[]]>([
    ["我今天去北京大学", "北京", ["北京"]],
    ["我今天去北京大学", "学", ["学"]],
    ["我今天去北京大学", "今天 大学", ["今天", "大学"]],
    ["東京都に住んでいます", "京都", ["京都"]],
    ["カタカナとひらがな", "ひら", ["ひら"]],
    ["コーヒーを飲む", "コーヒー", ["コーヒー"]],
    ["วันนี้อากาศดี", "อากาศ", ["อากาศ"]],
    ["학교에서 만나요", "학교", ["학교"]],
    ["iPhoneを買った", "iphone ", ["iPhone"]],
    ["iPhoneを買った", "phoneを", []],
    ["iPhoneを買った", "iphoneを", ["iPhoneを"]],
    ["我今天去北京大学", "京北", []],
    ["北 京", "北京", ["北 京"]],
  ])("%j by %j", async (content, query, matches) => {
    const { ada } = await roomThatHeard("別の", content);
    const { messages } = await ada.ask("search", { query });
    expect(messages.flatMap(matched)).toEqual(matches);
  });
});

describe("refusals", () => {
  it.each([
    {},
    { query: "" },
    { query: "   " },
    { query: "?!" },
    { query: "***" },
    { query: '""' },
    { query: "?!", from: "ada" },
    { query: "\u0000" },
    { query: "a ".repeat(QUERY_WORDS_MAX + 1) },
    { query: "茶".repeat(QUERY_WORDS_MAX + 1) },
  ])("INVALID_PAYLOAD answers %j", async (payload) => {
    const { ada } = await roomThatHeard("a");
    expect(await ada.ask("search", payload)).toMatchObject({ error: { code: "INVALID_PAYLOAD" } });
    expect(ada.closing).toBeUndefined();
  });

  it("SRCH-8: readers may search; banned users may not, by socket or from outside", async () => {
    const { room } = await roomThatHeard("a");
    const reader = await room.join({ user: "rita", role: "reader" });
    expect(await reader.ask("search", { query: "a" })).toMatchObject({ messages: [{ seq: 1 }] });
    const mona = await room.join({ user: "mona", role: "moderator" });
    expect(await mona.ask("ban", { user: "rita" })).toEqual({ ok: true });
    expect(reader.closing).toBeDefined();
    expect(await room.ask("search", "rita", { query: "a" })).toMatchObject({ error: { code: "FORBIDDEN" } });
  });
});

describe("SRCH-4: a page", () => {
  it("holds whole messages, the newest first", async () => {
    const { ada } = await roomThatHeard("one fish", "two fish");
    expect(await ada.ask("search", { query: "fish" })).toEqual({
      ok: true,
      hasMore: false,
      before: 1,
      messages: [2, 1].map((seq) => ({
        id: `${EPOCH}-${seq}`,
        seq,
        room: ROOM,
        sender: "ada",
        name: "ada",
        content: seq === 1 ? "one fish" : "two fish",
        timestamp: expect.any(Number),
        matches: [[4, 8]],
      })),
    });
  });

  it("continues where the page before ended", async () => {
    const { ada } = await roomThatHeard(...Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? "even" : "odd")));
    const first = await ada.ask("search", { query: "odd" });
    expect(first.messages).toHaveLength(SEARCH_LIMIT_DEFAULT);
    expect(first).toMatchObject({ hasMore: true, before: 12 });
    const second = await ada.ask("search", { query: "odd", before: first.before });
    expect(second).toMatchObject({ hasMore: false, before: 1 });
    expect([...first.messages, ...second.messages].map(({ seq }) => seq)).toEqual(
      Array.from({ length: 25 }, (_, i) => 50 - 2 * i),
    );
  });

  it("has the first ranges of many, and overlapping ones as one", async () => {
    const { ada } = await roomThatHeard("na ".repeat(100), "ab bc ab bc");
    const many = await ada.ask("search", { query: "na " });
    expect(many.messages[0].matches).toHaveLength(MATCHES_MAX);
    const { messages } = await ada.ask("search", { query: '"ab bc" bc ' });
    expect(messages.flatMap(matched)).toEqual(["ab bc", "ab bc"]);
  });

  it("is sent to its caller only", async () => {
    const { room, ada } = await roomThatHeard("tea");
    const ben = await room.join("ben");
    room.quiet();
    const heard = ben.packets.length;
    await ada.ask("search", { query: "tea" });
    await ada.ask("search", { query: "?" });
    ada.emit("search", { query: "?" });
    room.quiet();
    expect(ben.packets).toHaveLength(heard);
    expect(ada.received("error")).toMatchObject([{ code: "INVALID_PAYLOAD" }]);
  });

  it("is empty in an empty room", async () => {
    const { ada } = await roomThatHeard();
    expect(await ada.ask("search", { query: "a" })).toEqual({ ok: true, messages: [], hasMore: false, before: 1 });
  });
});

describe("SRCH-6: a message is found as it stands now", () => {
  it("in a relaxed room also before it is stored: CHAT-7", async () => {
    const room = new ChatRoom({ messageRate: UNLIMITED, durability: "relaxed" });
    const ada = await room.join("ada");
    for (let i = 0; i < 14; i++) {
      ada.emit("chat-message", { content: `busy ${i}` });
      room.shell.advance(60);
    }
    expect(room.log.lastSeq).toBeLessThan(14);
    expect(await ada.ask("search", { query: "busy", limit: 50 })).toMatchObject({
      messages: { length: 14, 0: { seq: 14 } },
    });
  });
});

describe("SRCH-2: mentions", () => {
  const contents = ["hello @ada", "ada was here", "@adam", "and @<a d-a>", "`@ada`", "@ada and @ben: now", "@ben"];
  it.each<[asked: object, seqs: number[]]>([
    [{ mentions: "ada" }, [6, 1]],
    [{ mentions: "ada", query: "now" }, [6]],
    [{ mentions: "a d-a" }, [4]],
    [{ mentions: "nobody" }, []],
    [{ mentions: "ada", from: "ben" }, []],
  ])("%j finds %j", async (asked, seqs) => {
    const { ada } = await roomThatHeard(...contents);
    const { messages } = await ada.ask("search", asked);
    expect((messages as FoundMessage[]).map(({ seq }) => seq)).toEqual(seqs);
  });

  it("of an id of more words than a query has are found", async () => {
    const user = "東".repeat(QUERY_WORDS_MAX + 1);
    const { ada } = await roomThatHeard(`@${user}`, `@${user.slice(1)}`);
    expect((await ada.ask("search", { mentions: user })).messages).toMatchObject([{ seq: 1 }]);
  });

  it("of an id without a word are found, and an edit that takes one out hides the message", async () => {
    const { ada } = await roomThatHeard("@<-->", "@<--> again");
    const [newest] = (await ada.ask("search", { mentions: "--" })).messages as FoundMessage[];
    expect(newest).toMatchObject({ seq: 2, matches: [] });
    await ada.ask("edit-message", { id: newest!.id, content: "nobody" });
    expect((await ada.ask("search", { mentions: "--" })).messages).toMatchObject([{ seq: 1 }]);
  });
});
