// Tests the smaller parts of the page's state: people, rooms and the ways to them, addresses, excerpts, pictures, times, and the connection.
import { describe, expect, it } from "vitest";

import { addressIn, hashOf } from "../../../client/page/state/address.ts";
import { completed, suggestionsFor } from "../../../client/page/state/completion.ts";
import { openMentionIn } from "../../../src/protocol/text/mentions.ts";
import { excerptOf } from "../../../client/page/state/excerpt.ts";
import { People } from "../../../client/page/state/people.ts";
import { placesFor } from "../../../client/page/state/places.ts";
import { PICTURE_BYTES_MAX, PICTURE_PIXELS_MAX } from "../../../client/page/state/image-file.ts";
import { isPicture } from "../../../client/page/state/pictures.ts";
import { describeModeration } from "../../../client/page/state/describe-moderation.ts";
import { labelOf, neighbour, roomItems, titleOf, type RoomItem } from "../../../client/page/state/room-items.ts";
import { describeFailure, mayRetry } from "../../../client/page/state/room-answers.ts";
import { statusOf, type ShownConnection } from "../../../client/page/state/shown-connection.ts";
import { typingLine } from "../../../client/page/state/typing-line.ts";
import { briefTime, bytesText, dayTitle, duration, sinceTime } from "../../../client/page/state/times.ts";
import { HUES, hueOf } from "../../../client/page/state/hue.ts";

describe("completing a mention", () => {
  it.each([
    ["@", 1, { from: 0, query: "" }],
    ["hello @be", 9, { from: 6, query: "be" }],
    ["hello @be and more", 9, { from: 6, query: "be" }],
    ["mail@be", 7, undefined],
    ["@ben said", 9, undefined],
    ["你好@be", 5, { from: 2, query: "be" }],
    ["「@田", 3, { from: 1, query: "田" }],
    ["Drinks:@be", 10, { from: 7, query: "be" }],
    ["@कमला", 5, { from: 0, query: "कमला" }],
    ["＠be", 3, { from: 0, query: "be" }],
    ["@O’Br", 5, { from: 0, query: "O’Br" }],
    ["https://x.example/@be", 21, undefined],
    ["", 0, undefined],
  ])("%j at %i", (text, caret, expected) => {
    expect(openMentionIn(text, caret)).toEqual(expected);
  });

  it("finds people by the beginning of name, a word of it, or id", () => {
    const people = [
      { user: "u1", name: "Ben Ito" },
      { user: "ito-2", name: "Ada" },
      { user: "u3", name: "Bob" },
    ];
    expect(suggestionsFor("ito", people).map(({ user }) => user)).toEqual(["u1", "ito-2"]);
    expect(suggestionsFor("", people)).toHaveLength(3);
    expect(suggestionsFor("ｂｅ", people).map(({ user }) => user)).toEqual(["u1"]);
    expect(suggestionsFor("zoë", [{ user: "u4", name: "Zoe\u0308" }])).toHaveLength(1);
  });

  it("writes the name, and a space after it", () => {
    expect(completed("hey @be", 7, 4, "@Ben")).toEqual({ text: "hey @Ben ", caret: 9 });
    expect(completed("hey @be!", 7, 4, "@Ben Ito")).toEqual({ text: "hey @Ben Ito !", caret: 13 });
  });
});

describe("the list of rooms", () => {
  const overview = (room: string, lastSeq: number) => ({ room, lastSeq, members: 2, lastActivity: 1 });
  const listed = [overview("zebra", 9), overview("alpha", 12), overview("beta", 3)];

  const rules = { muted: new Set<string>() };
  const none = { joined: [], entered: [], rules };
  const plain = { unread: 0, mentions: 0, isMuted: false };

  it("lists the reader's own rooms first, with what the server says is new; other rooms have no count", () => {
    const joined = [
      { ...overview("zebra", 9), unread: 5, mentions: 2 },
      { ...overview("beta", 3), unread: 2, mentions: 1 },
    ];
    const known = { listed, joined, entered: ["alone"], current: "beta" };
    const seen = { members: 2, lastActivity: 1, ...plain };
    const [alone, beta, zebra, alpha] = [
      { room: "alone", section: "yours", ...plain },
      { room: "beta", section: "yours", ...seen },
      { room: "zebra", section: "yours", ...seen, unread: 5, mentions: 2 },
      { room: "alpha", section: "discover", ...seen },
    ];
    expect(roomItems({ ...known, rules })).toEqual([alone, beta, zebra, alpha]);
    const muted = { muted: new Set(["zebra"]) };
    expect(roomItems({ ...known, rules: muted })[2]).toEqual({ ...zebra, unread: 2, isMuted: true });
  });

  it("names conversations after the other one, also to find them; one without a message is there for who began it", () => {
    const direct = (user: string, lastSeq: number) => ({
      ...overview(`dm~${user}`, lastSeq),
      unread: lastSeq,
      mentions: lastSeq,
      direct: { user, name: `${user.toUpperCase()} \u202E<b>` },
    });
    const joined = [direct("cleo", 2), direct("ben", 0), direct("dan", 0)];
    const items = roomItems({ rules, listed: [], joined, entered: ["dm~dan"], current: "delta" });
    expect(items.map(({ room, section, unread }) => [room, section, unread])).toEqual([
      ["delta", "yours", 0],
      ["dm~cleo", "direct", 2],
      ["dm~dan", "direct", 0],
    ]);
    const found = roomItems({ rules, listed: [], joined, entered: [], current: "delta", filter: "leo" });
    expect(found.map(({ room }) => room)).toEqual(["dm~cleo"]);
    expect(titleOf("dm~cleo", { direct: direct("cleo", 2).direct })).toBe("CLEO <b>");
    expect([titleOf("dm~x"), titleOf("general")]).toEqual(["Direct message", "#general"]);
  });

  it("tells people apart whose names look the same", () => {
    const direct = (user: string, name: string) => ({
      ...overview(`dm~${user}`, 1),
      unread: 0,
      mentions: 0,
      direct: { user, name },
    });
    const joined = [direct("u1", "Ada"), direct("guest-00000000000a1b2c", "A\u200Bda"), direct("u3", "Adam")];
    const items = roomItems({ rules, listed: [], joined, entered: [], current: "dm~u1" });
    expect(items.map(({ direct: one, tag }) => [one!.user, tag])).toEqual([
      ["u1", "#u1"],
      ["u3", undefined],
      ["guest-00000000000a1b2c", "#1b2c"],
    ]);
    expect(titleOf("dm~u1", { direct: { user: "u1", name: "Ada" }, tag: "#u1" })).toBe("Ada #u1");
  });

  it("can be looked through; the reader's own rooms can be walked around", () => {
    const items = roomItems({ ...none, listed, entered: ["zebra"], current: "beta", filter: " A" });
    expect(items.map(({ room }) => room)).toEqual(["beta", "zebra", "alpha"]);
    expect(neighbour(items, "zebra", 1)).toBe("beta");
    expect(neighbour(items, "beta", -1)).toBe("zebra");
  });

  it("shows rooms by the names that they were given, and finds them by name and id; what is new comes first elsewhere", () => {
    const café = { ...overview("coffee", 3), name: "Café \u202E& <b>", lastActivity: 2 };
    const direct = (user: string, lastActivity: number) => ({
      ...overview(`dm~${user}`, 1),
      lastActivity,
      unread: 0,
      mentions: 0,
      direct: { user, name: user },
    });
    const known = {
      ...none,
      joined: [direct("ada", 1), direct("ben", 9)],
      listed: [...listed, café],
      entered: ["zebra"],
    };
    const items = roomItems({ ...known, current: "beta" });
    expect(items.map(labelOf)).toEqual(["beta", "zebra", "ben", "ada", "Café & <b>", "alpha"]);
    const found = (filter: string) => roomItems({ ...known, current: "beta", filter }).map(({ room }) => room);
    expect([found("CAFE"), found("offe")]).toEqual([["coffee"], ["coffee"]]);
    expect([titleOf("coffee", café), titleOf("coffee", { name: "" })]).toEqual(["Café & <b>", "#coffee"]);
  });

  it("does not move under the pointer: new rooms come below, visited and gone ones keep their places", () => {
    const held = roomItems({ ...none, listed, current: "beta" });
    const later = [overview("zebra", 9), overview("alder", 1), overview("beta", 3)];
    const names = (also: object) =>
      roomItems({ ...none, listed: later, entered: ["beta"], current: "zebra", ...also }).map(({ room }) => room);
    expect(names({ held })).toEqual(["beta", "alpha", "zebra", "alder"]);
    expect(names({})).toEqual(["beta", "zebra", "alder"]);
    expect(names({ held, filter: "al" })).toEqual(["alpha", "alder"]);
  });

  it("a room named like a property of every object was not visited for that", () => {
    const items = roomItems({ ...none, listed: [overview("constructor", 7)], current: "beta" });
    expect(items.at(-1)).toMatchObject({ room: "constructor", section: "discover", members: 2, ...plain });
  });
});

describe("typing members", () => {
  it("in one line", () => {
    const lineOf = (...names: string[]): string => typingLine(names.map((name) => ({ user: name, name })));
    expect(lineOf()).toBe("");
    expect(lineOf("Ben")).toBe("Ben is typing…");
    expect(lineOf("Ben", "Cleo")).toBe("Ben and Cleo are typing…");
    expect(lineOf("Ben", "Cleo", "Dan")).toBe("Ben, Cleo and Dan are typing…");
    expect(lineOf("Ben", "Cleo", "Dan", "Eve")).toBe("Several people are typing…");
    expect([typingLine([], 1), typingLine([], 12)]).toEqual(["1 person is typing…", "12 people are typing…"]);
  });
});

describe("how the connection stands", () => {
  const stopped = (code: string, message = "said the room"): ShownConnection => ({ kind: "stopped", code, message });
  it.each<[ShownConnection, number, object]>([
    [{ kind: "connecting" }, 0, { state: "connecting" }],
    [{ kind: "connected", isBack: false }, 0, { state: "connected", text: "" }],
    [{ kind: "connected", isBack: true }, 0, { state: "connected", text: "Connected again" }],
    [
      { kind: "offline", code: "", message: "" },
      0,
      { state: "offline", text: "No connection to the chat", action: "retry" },
    ],
    [{ kind: "offline", code: "", message: "" }, 1, { text: "No connection to the chat · 1 message waits" }],
    [{ kind: "offline", code: "", message: "" }, 3, { text: "No connection to the chat · 3 messages wait" }],
    [{ kind: "offline", code: "ROOM_FULL", message: "" }, 0, { state: "full" }],
    [stopped("KICKED"), 0, { state: "kicked", text: "said the room", action: "rejoin" }],
    [stopped("BANNED"), 0, { state: "banned", text: "said the room" }],
    [stopped("TOKEN_EXPIRED"), 0, { state: "expired", action: "sign-in" }],
    [stopped("FORBIDDEN_ROOM"), 0, { state: "forbidden", action: "sign-in" }],
    [stopped("toString"), 0, { state: "refused", text: "The room refused: said the room" }],
  ])("%j with %i waiting", (connection, pending, expected) => {
    expect(statusOf(connection, pending)).toMatchObject(expected);
  });

  it("failures name the reason, and when to try again", () => {
    expect(describeFailure({ code: "MUTED", message: "x", retryAfterMs: 61_000 })).toBe(
      "You are muted here. Try again in 1:01 min.",
    );
    expect(describeFailure({ code: "TOO_LONG", message: "content: too long" })).toBe("content: too long.");
    expect(describeFailure({ code: "REJECTED", message: "No spam here." })).toBe("No spam here.");
  });

  it("a message that the room would refuse again cannot be retried", () => {
    const codes = ["REJECTED", "TOO_LONG", "MUTED", "SLOW_MODE", "KICKED", "OTHER_USER", "NO_ANSWER"];
    expect(codes.filter((code) => mayRetry({ code, message: "x" }))).toEqual(codes.slice(2));
  });
});

describe("the sentences about moderation", () => {
  const nameOf = (user: string): string => ({ mo: "Mo" })[user] ?? user;
  it.each([
    [{ action: "kick", by: "mo", user: "me", reason: "noise" }, "Mo kicked you: “noise”"],
    [{ action: "ban", by: "mo", user: "ben", seconds: 3600 }, "Mo banned ben for 1 h"],
    [{ action: "unban", by: "mo", user: "ben" }, "Mo unbanned ben"],
    [{ action: "unmute", by: "mo", user: "me" }, "Mo unmuted you"],
    [{ action: "revoke", by: "mo", user: "ben" }, "Mo removed the role of ben"],
    [{ action: "slow-mode", by: "mo", seconds: 0 }, "Mo turned off slow mode"],
    [{ action: "read-only", by: "me", on: true }, "You made the room read-only"],
  ] as const)("%j", (change, expected) => {
    expect(describeModeration(change, nameOf, "me")).toBe(expected);
  });
});

describe("the files that are shown as pictures", () => {
  const side = Math.sqrt(PICTURE_PIXELS_MAX);
  const fits = { width: side, height: side };
  it.each([
    ["as many pixels as a picture may have", fits, true],
    ["one row more", { width: side, height: side + 1 }, false],
    ["a bomb of few bytes", { width: 20_000, height: 20_000 }, false],
    ["a size that the server does not know", {}, false],
    ["as many bytes as a picture may have", { ...fits, size: PICTURE_BYTES_MAX }, true],
    ["one byte more", { ...fits, size: PICTURE_BYTES_MAX + 1 }, false],
    ["a type that may carry a script", { ...fits, type: "image/svg+xml" }, false],
  ])("%s: %j is %s", (_what, more, expected) => {
    expect(isPicture({ key: "k", name: "a.png", type: "image/png", size: 1000, ...more })).toBe(expected);
  });
});

describe("times", () => {
  const now = new Date(2026, 10, 21, 12).getTime();
  it("days, lengths and sizes", () => {
    expect(dayTitle(now - 3600_000, now)).toBe("Today");
    expect(dayTitle(now - 86_400_000, now)).toBe("Yesterday");
    expect(dayTitle(new Date(2025, 0, 5).getTime(), now)).toContain("2025");
    expect([now - 3600_000, now - 86_400_000].map((at) => briefTime(at, now))).toEqual([
      expect.stringMatching(/^11:00/),
      expect.stringMatching(/20/),
    ]);
    expect(sinceTime(now - 3600_000, now)).toMatch(/^11:00/);
    expect(sinceTime(now - 86_400_000, now)).toMatch(/^yesterday, 12:00/);
    expect([500, 61_000, 3_660_000, 9e8].map(duration)).toEqual(["1 s", "1:01 min", "1 h 1 min", "10 days"]);
    expect([5, 1500, 23_000, 2_500_000].map(bytesText)).toEqual(["5 B", "1.5 kB", "23 kB", "2.5 MB"]);
  });
});

describe("a user's colour", () => {
  it("is one of sixteen, and always the same", () => {
    const users = Array.from({ length: 1000 }, (_, at) => `guest-${at}`);
    const counts = HUES.map((hue) => users.filter((user) => hueOf(user) === hue).length);
    expect(counts.reduce((sum, count) => sum + count)).toBe(users.length);
    expect(Math.min(...counts)).toBeGreaterThan(users.length / HUES.length / 2);
  });

  it("gives the members of a small team different colours", () => {
    const team = ["mara", "jonas", "priya", "tomas", "aiko", "sam"];
    expect(new Set(team.map(hueOf)).size).toBeGreaterThanOrEqual(5);
  });
});

describe("the address of a room or a message", () => {
  it.each([
    { room: "general" },
    { room: "dm~aZ_9.x-" },
    { room: "general", message: "k3J-_x-1z" },
    { room: "a.b~c", message: "0-1" },
  ])("an address that the page makes leads there: %j", (address) => {
    expect(addressIn(hashOf(address))).toEqual(address);
  });

  it.each([
    ["#a~b/x-1.", { room: "a~b", message: "x-1" }],
    ["#a/x-1).”", { room: "a", message: "x-1" }],
    ["#a%7Eb%2Fx-1", { room: "a~b", message: "x-1" }],
  ])("what other programs do to a link changes nothing: %s", (hash, address) => {
    expect(addressIn(hash)).toEqual(address);
  });

  it.each([
    "",
    "#",
    "#/",
    "#/x-1",
    "#a/",
    "#a/.",
    "#a/<b>",
    "#a/x/y",
    "#a b",
    "#a%",
    "#a/%00",
    `#a/${"x".repeat(129)}`,
    "#__proto__/x",
    "#a/x\u202e1",
  ])("no address: %j", (hash) => {
    expect(addressIn(hash)).toBe(undefined);
  });
});

describe("rooms and people by a part of their names (Ctrl K)", () => {
  const item = (room: string, more: Partial<RoomItem> = {}): RoomItem => ({
    room,
    section: "yours",
    unread: 0,
    mentions: 0,
    isMuted: false,
    ...more,
  });
  const items = [
    item("general"),
    item("coffee", { name: "Zoë's Café" }),
    item("design-review", { unread: 3 }),
    item("ops", { unread: 9, mentions: 1 }),
    item("dm~x", { section: "direct", direct: { user: "ben", name: "Ben Ito" } }),
    item("regents", { section: "discover" }),
  ];
  const people = [
    { user: "ben", name: "Ben Ito" },
    { user: "greta", name: "Greta" },
  ];
  const found = (typed: string): string[] =>
    placesFor(typed, { items, people, entered: ["dm~x", "coffee", "general"], current: "general" }).map((place) =>
      place.kind === "room" ? place.item.room : place.person.name,
    );

  it("until something is typed: what speaks to the reader, what is unread, and where they were last; not where they are", () => {
    expect(found(" ")).toEqual(["ops", "design-review", "coffee", "dm~x", "regents"]);
  });

  it("finds by name and id, without accents and capitals: beginnings, words, parts, and letters in their order", () => {
    expect(found("ge")).toEqual(["general", "regents", "design-review", "Greta"]);
    expect(found("re")).toEqual(["regents", "design-review", "Greta"]);
    expect(found("cafe")).toEqual(["coffee"]);
    expect(found("#coff")).toEqual(["coffee"]);
    expect(found("dsrv")).toEqual(["design-review"]);
    expect(found("ito")).toEqual(["dm~x"]);
    expect(found("@gret")).toEqual(["Greta"]);
    expect(found("design rev")).toEqual(["design-review"]);
    expect(found("xyz")).toEqual([]);
  });
});

describe("the excerpt of a found message", () => {
  const ADA = "guest-00000000000a1b2c";
  const people = new People(() => new Map([[ADA, "Ada Lovelace"]]));

  /** The excerpt, with the found words in brackets. */
  function excerpt(content: string, ...found: string[]): string {
    const matches = found.map((word) => [content.indexOf(word), content.indexOf(word) + word.length] as const);
    return excerptOf({ content, matches }, people.labelledIn(content))
      .map(({ text, isMatch }) => (isMatch ? `[${text}]` : text))
      .join("");
  }

  it.each([
    ["after a mention", `hey @${ADA} and others`, ["others"], "hey @Ada Lovelace and [others]"],
    ["before a mention", `hey @${ADA}`, ["hey"], "[hey] @Ada Lovelace"],
    ["within the id of a mention", `hey @${ADA}, you`, ["guest", "00000000000a1b2c"], "hey [@Ada Lovelace], you"],
    ["from a mention on", `hey @${ADA}, you`, ["00000000000a1b2c, you"], "hey [@Ada Lovelace, you]"],
    ["in code, where no user is mentioned", `see \`@${ADA}\` there`, ["there"], `see @${ADA} [there]`],
    ["beside marks", "the **needle** is `here`", ["is"], "the needle [is] here"],
    ["far from the beginning", `@${ADA} ${"hay ".repeat(20)}needle`, ["needle"], `…${"hay ".repeat(9)}[needle]`],
  ])("a word that was found %s is marked, and people are named", (_, content, found, shown) => {
    expect(excerpt(content, ...found)).toBe(shown);
  });
});
