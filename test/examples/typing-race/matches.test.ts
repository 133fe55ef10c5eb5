// The room of each player, and the `auth` of a client, in the typing race of docs/examples.
import { expect, it } from "vitest";

import { NAME_CHARACTERS_MAX, readEntrant } from "../../../docs/examples/typing-race/entrant.ts";
import { nextMatch, type Match } from "../../../docs/examples/typing-race/matches.ts";
import { passageBy } from "../../../docs/examples/typing-race/passages.ts";
import { PLAYERS_MAX } from "../../../docs/examples/typing-race/race.ts";
import { readSettings } from "../../../docs/examples/typing-race/settings.ts";

const WAIT_MS = 10_000;

/** The rooms of those who ask at these times. */
function roomsAt(...timesMs: number[]): string[] {
  let open: Match | undefined;
  let rooms = 0;
  return timesMs.map((nowMs) => (open = nextMatch(open, nowMs, WAIT_MS, () => `room ${++rooms}`)).room);
}

it("fills a room with six", () => {
  expect(roomsAt(...Array.from({ length: PLAYERS_MAX + 1 }, () => 0))).toEqual([
    ...Array.from({ length: PLAYERS_MAX }, () => "room 1"),
    "room 2",
  ]);
});

it("sends no player to a room whose first player has waited", () => {
  expect(roomsAt(0, WAIT_MS - 1, WAIT_MS)).toEqual(["room 1", "room 1", "room 2"]);
});

it("has passages that any keyboard can type, and chooses each of them", () => {
  const passages = new Set(Array.from({ length: 100 }, (_, i) => passageBy(i / 100)));
  expect(passages.size).toBeGreaterThan(3);
  for (const passage of passages) {
    for (let i = 0; i < 20; i++) expect(passageBy(i / 20, passage)).not.toBe(passage);
    expect(passage).toMatch(/^[\x20-\x7e]{100,250}$/);
    expect(passage.trim()).toBe(passage);
  }
});

it("reads its variables, also as texts, and names the one that is wrong", () => {
  expect(readSettings({ WAIT_MS: "2000", TICK_MS: 0 })).toEqual({ waitMs: 2000, tickMs: 0 });
  expect(() => readSettings({ WAIT_MS: "soon", TICK_MS: 0 })).toThrow(
    'WAIT_MS has to be a whole number of milliseconds, not "soon".',
  );
  for (const wrong of [-1, 1.5, Infinity, "", " ", "1e3", "100 ms"])
    expect(() => readSettings({ WAIT_MS: 0, TICK_MS: wrong })).toThrow(/^TICK_MS/);
});

it("reads the player", () => {
  const key = "0123456789abcdef";
  expect(readEntrant({ key, name: " Ada " })).toEqual({ key, name: "Ada" });
  expect(readEntrant({ key, name: "x".repeat(NAME_CHARACTERS_MAX) })).toMatchObject({ key });
  expect(readEntrant({ key, name: "x".repeat(NAME_CHARACTERS_MAX + 1) })).toMatch(/^auth\.name/);
  for (const name of [undefined, 7, {}, "", "  "]) expect(readEntrant({ key, name })).toMatch(/^auth\.name/);
  for (const odd of [undefined, 7, "short", "x".repeat(65), "no spaces in keys", `${key}\n`])
    expect(readEntrant({ key: odd, name: "Ada" })).toMatch(/^auth\.key/);
});
