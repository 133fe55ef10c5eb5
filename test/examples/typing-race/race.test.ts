// The rules of the typing race of docs/examples: its phases, its checks of each keystroke, and returning players.
import { beforeEach, describe, expect, it } from "vitest";

import {
  AWAY_MS_MAX,
  COUNTDOWN_MS,
  PLAYERS_MAX,
  Race,
  RACE_MS_MAX,
  type RaceState,
} from "../../../docs/examples/typing-race/race.ts";

const WAIT_MS = 10_000;
const PASSAGES = ["ab cd", "second"];

let nowMs: number;
let passages: string[];
let race: Race;

beforeEach(() => {
  nowMs = 1_000_000;
  passages = [...PASSAGES];
  race = newRace();
});

const newRace = (stored?: RaceState): Race =>
  new Race({ waitMs: WAIT_MS, passage: () => passages.shift() ?? "last" }, stored);
const enter = (name: string): number => race.enter({ key: `key of ${name}`, name }, nowMs);
const leave = (name: string): void => race.leave(`key of ${name}`, nowMs);
const type = (name: string, position: unknown, character: unknown) =>
  race.type(`key of ${name}`, position, character, nowMs);
const players = () => race.view(nowMs).players;

/** Calls `advance` at each moment that the race asks for, until a phase. */
function goOnTo(phase: RaceState["phase"]): void {
  while (race.state.phase !== phase) {
    nowMs = race.nextBeatMs(nowMs)!;
    race.advance(nowMs);
  }
}

function typeAll(name: string, msEach = 200): void {
  const { passage } = race.state;
  for (let position = 0; position < passage.length; position++) {
    nowMs += msEach;
    expect(type(name, position, passage[position])).toMatch(/typed|finished/);
  }
}

describe("the start", () => {
  it("comes when six are in, after a countdown of three seconds", () => {
    for (let i = 0; i < PLAYERS_MAX - 1; i++) enter(`p${i}`);
    expect(race.view(nowMs)).toMatchObject({ phase: "waiting", startsInMs: WAIT_MS });
    enter("last");
    expect(race.view(nowMs)).toMatchObject({ phase: "countdown", startsInMs: COUNTDOWN_MS });
    const seconds: number[] = [];
    while (race.state.phase === "countdown") {
      seconds.push(race.secondsLeft(nowMs));
      nowMs = race.nextBeatMs(nowMs)!;
      race.advance(nowMs);
    }
    expect(seconds).toEqual([3, 2, 1]);
    expect(race.state).toMatchObject({ phase: "running", startedAtMs: nowMs });
  });

  it("comes for fewer when the first of them has waited", () => {
    enter("ada");
    nowMs += WAIT_MS - 1;
    enter("ben");
    expect(race.nextBeatMs(nowMs)).toBe(nowMs + 1);
    expect(race.advance(nowMs)).toBe(false);
    nowMs += 1;
    expect(race.advance(nowMs)).toBe(true);
    expect(race.state.phase).toBe("countdown");
  });

  it("waits again when all players have left before it", () => {
    enter("ada");
    leave("ada");
    expect(race.nextBeatMs(nowMs)).toBeUndefined();
    expect(race.state).toMatchObject({ phase: "waiting", players: [] });
  });

  it("has no seventh seat, and gives a free one to the next", () => {
    for (let i = 0; i < PLAYERS_MAX; i++) enter(`p${i}`);
    expect(race.hasSeatFor("key of eve")).toBe(false);
    expect(race.hasSeatFor("key of p3")).toBe(true);
    leave("p3");
    expect(race.hasSeatFor("key of eve")).toBe(true);
    expect(enter("eve")).toBe(3);
  });

  it("late, after a sleep, still gives the whole time", () => {
    enter("ada");
    goOnTo("countdown");
    nowMs += 60_000;
    race.advance(nowMs);
    expect(race.state).toMatchObject({ startedAtMs: nowMs, untilMs: nowMs + RACE_MS_MAX });
  });
});

describe("a keystroke", () => {
  beforeEach(() => {
    enter("ada");
    enter("ben");
  });

  it("counts when it is the next character", () => {
    goOnTo("running");
    expect(type("ben", 0, "a")).toBe("typed");
    expect(type("ben", 1, "b")).toBe("typed");
    expect(race.positions).toEqual([0, 2]);
  });

  it.each<[what: string, position: unknown, character: unknown, refusal: object]>([
    ["no number", "0", "a", { code: "INVALID_PAYLOAD", message: "The position has to be a whole number from 0 on." }],
    ["a negative place", -1, "a", { code: "INVALID_PAYLOAD" }],
    ["no whole number", 0.5, "a", { code: "INVALID_PAYLOAD" }],
    ["no text", 0, 7, { code: "INVALID_PAYLOAD", message: "The character has to be a string of length 1." }],
    ["two characters", 0, "ab", { code: "INVALID_PAYLOAD" }],
    ["nothing", undefined, undefined, { code: "INVALID_PAYLOAD" }],
    ["a later place", 1, "b", { code: "WRONG_POSITION", message: "Your next position is 0, not 1.", position: 0 }],
    ["a wrong key", 0, "x", { code: "WRONG_CHARACTER", message: 'At position 0 is "a", not "x".', position: 0 }],
  ])("of %s is refused, and changes nothing", (_what, position, character, refusal) => {
    goOnTo("running");
    expect(type("ada", position, character)).toMatchObject(refusal);
    expect(race.positions).toEqual([0, 0]);
  });

  it("before the start, after the end, and of a stranger is refused", () => {
    expect(type("ada", 0, "a")).toMatchObject({ code: "NOT_RUNNING" });
    goOnTo("running");
    expect(type("eve", 0, "a")).toMatchObject({ code: "NOT_RUNNING" });
    typeAll("ada");
    expect(type("ada", 5, "x")).toMatchObject({ code: "FINISHED" });
    typeAll("ben");
    expect(type("ben", 5, "x")).toMatchObject({ code: "NOT_RUNNING" });
  });

  it("is too fast beyond 300 words a minute, but a word may come at once", () => {
    passages = ["x".repeat(100)];
    race = newRace();
    enter("ada");
    goOnTo("running");
    let typed = 0;
    while (type("ada", typed, "x") === "typed") typed++;
    expect(typed).toBe(26);
    expect(type("ada", typed, "x")).toMatchObject({ code: "TOO_FAST", position: 26, retryAfterMs: 40 });
    nowMs += 39;
    expect(type("ada", typed, "x")).toMatchObject({ code: "TOO_FAST", retryAfterMs: 1 });
    nowMs += 1;
    expect(type("ada", typed, "x")).toBe("typed");
  });
});

describe("the end", () => {
  beforeEach(() => {
    for (const name of ["ada", "ben", "eve"]) enter(name);
    goOnTo("running");
  });

  it("comes when all have finished, with places and words a minute", () => {
    typeAll("ben", 200);
    expect(players()[1]).toMatchObject({ name: "ben", position: 5, place: 1, wordsPerMinute: 60 });
    typeAll("eve", 200);
    expect(race.state.phase).toBe("running");
    typeAll("ada", 200);
    expect(race.state.phase).toBe("over");
    nowMs += 60_000;
    expect(players().map(({ place }) => place)).toEqual([3, 1, 2]);
    expect(players().map(({ wordsPerMinute }) => wordsPerMinute)).toEqual([20, 60, 30]);
    expect(race.nextBeatMs(nowMs)).toBeUndefined();
  });

  it("comes after the longest time for those who have not finished; their speed stays as it was", () => {
    type("ada", 0, "a");
    goOnTo("over");
    expect(nowMs - race.state.startedAtMs!).toBe(RACE_MS_MAX);
    const speeds = race.speeds(nowMs);
    expect(race.speeds(nowMs + 60_000)).toEqual(speeds);
    expect(players().map(({ place }) => place)).toEqual([undefined, undefined, undefined]);
  });

  it("waits for a player who has left, for a while", () => {
    type("ada", 0, "a");
    leave("ada");
    typeAll("ben");
    typeAll("eve");
    expect(players()[0]).toMatchObject({ isAway: true, position: 1 });
    const untilMs = nowMs;
    goOnTo("over");
    expect(nowMs).toBeGreaterThan(untilMs);
    expect(nowMs - race.state.players[0]!.awaySinceMs!).toBeLessThan(AWAY_MS_MAX + 1000);
  });

  it("can be followed by a rematch of those who are there, once", () => {
    expect(race.rematch(nowMs)).toMatchObject({ code: "NOT_OVER" });
    for (const name of ["ada", "ben", "eve"]) typeAll(name);
    leave("ben");
    expect(race.rematch(nowMs)).toBe("begun");
    expect(race.view(nowMs)).toMatchObject({ phase: "countdown", passage: "second", startsInMs: COUNTDOWN_MS });
    nowMs += 500;
    expect(race.rematch(nowMs)).toBe("counting");
    expect(race.view(nowMs).startsInMs).toBe(COUNTDOWN_MS - 500);
    expect(players().map(({ name, seat, position }) => [name, seat, position])).toEqual([
      ["ada", 0, 0],
      ["eve", 2, 0],
    ]);
    goOnTo("running");
    expect(type("eve", 0, "s")).toBe("typed");
  });
});

describe("a player who comes back", () => {
  it("has the seat and the position of before", () => {
    enter("ada");
    enter("ben");
    goOnTo("running");
    type("ben", 0, "a");
    leave("ben");
    nowMs += AWAY_MS_MAX / 2;
    expect(enter("ben")).toBe(1);
    expect(players()[1]).toMatchObject({ position: 1, isAway: false });
    expect(type("ben", 1, "b")).toBe("typed");
  });

  it("finds a new race when all players were away for long", () => {
    enter("ada");
    goOnTo("running");
    leave("ada");
    goOnTo("over");
    goOnTo("waiting");
    expect(race.state.players).toEqual([]);
    expect(enter("ada")).toBe(0);
    expect(race.view(nowMs)).toMatchObject({ phase: "waiting", passage: "second", startsInMs: WAIT_MS });
  });

  it("finds the result of a race that ended meanwhile; a new player takes the seat of one who is gone", () => {
    enter("ada");
    goOnTo("running");
    typeAll("ada");
    leave("ada");
    enter("ada");
    expect(players()[0]).toMatchObject({ place: 1 });
    leave("ada");
    enter("ben");
    expect(race.view(nowMs)).toMatchObject({ phase: "waiting", players: [{ name: "ben", seat: 0 }] });
  });
});

it("goes on from the state that was stored at any moment", () => {
  enter("ada");
  enter("ben");
  goOnTo("running");
  for (let position = 0; position < 4; position++) type("ben", position, race.state.passage[position]);
  const stored = structuredClone(race.state);
  type("ben", 4, "d");
  race = newRace(stored);
  expect(race.positions).toEqual([0, 4]);
  expect(type("ben", 4, "d")).toBe("finished");
});

it("shows no client the keys of the players", () => {
  enter("ada");
  expect(JSON.stringify(race.view(nowMs))).not.toContain("key of ada");
});
