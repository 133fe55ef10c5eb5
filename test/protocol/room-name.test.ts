// Valid names of rooms, and the rooms that a token opens.
import { describe, expect, it } from "vitest";

import { DEFAULT_ROOM, isRoomName, roomAllowed } from "../../src/protocol/room-name.ts";
import { anyCharacter, fc, runs } from "../host/properties.ts";

describe("a room name", () => {
  it("is what the contract says: 1 to 64 characters of A-Z a-z 0-9 _ . - ~, the first a letter or digit", () => {
    const allowed = new Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~");
    const first = new Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789");
    const byTheContract = (name: string): boolean =>
      name.length >= 1 &&
      name.length <= 64 &&
      first.has(name[0]!) &&
      Array.from(name).every((char) => allowed.has(char));
    const nearly = fc.string({ unit: fc.constantFrom(...allowed, "/", " ", "*", "\n", "é"), maxLength: 70 });
    const exactly = fc.string({ unit: fc.constantFrom(...allowed), minLength: 60, maxLength: 68 });
    fc.assert(
      fc.property(fc.oneof(nearly, exactly, fc.string({ unit: anyCharacter })), (name) => {
        expect(isRoomName(name)).toBe(byTheContract(name));
      }),
      {
        ...runs(2000),
        examples: ["", "a", "A".repeat(64), "A".repeat(65), "a\n", "\na", "_a", "9.."].map((name) => [name]),
      },
    );
  });

  it("the default room has a valid one", () => {
    expect(DEFAULT_ROOM).toBe("global");
    expect(isRoomName(DEFAULT_ROOM)).toBe(true);
  });
});

describe("a token's rooms", () => {
  it.each<[rooms: string[] | undefined, room: string, isAllowed: boolean]>([
    [undefined, "any", true],
    [[], "any", false],
    [["a"], "a", true],
    [["a"], "ab", false],
    [["ab"], "a", false],
    [["A"], "a", false],
    [["a", "b"], "b", true],
    [["a*"], "a", true],
    [["a*"], "abc", true],
    [["a*"], "ba", false],
    [["*"], "any", true],
    [["a.c"], "abc", false],
    [["a**"], "abc", false],
    [["*a"], "ba", false],
    [[""], "a", false],
    [["support"], "dm~abc", false],
    [["dm-*"], "dm~abc", false],
    [["dm~*"], "dm~abc", true],
    [["dm~abc"], "dm~abc", true],
    [["*"], "dm~abc", true],
    [undefined, "dm~abc", true],
  ])("%j open %s: %s", (rooms, room, isAllowed) => {
    expect(roomAllowed(rooms, room)).toBe(isAllowed);
  });
});
