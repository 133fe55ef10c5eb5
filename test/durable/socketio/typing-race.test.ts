// The typing race of docs/examples as an object: evictions and crashes in mid-race, recovery, and what it refuses.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import worker from "../../../docs/examples/typing-race/index.ts";
import { AWAY_MS_MAX, type RaceState, type RaceView } from "../../../docs/examples/typing-race/race.ts";
import { alarmOf, crash, evict, ring, TestClock } from "../../kit/testing.ts";
import { PacketType } from "../../wire/wire-client.ts";
import { RawClient } from "../raw-client.ts";
import { serving } from "./worker.ts";

const COUNTDOWN_MS = 3000;
const HOUR_MS = 3_600_000;
const fetcher = serving(env.TYPING_RACE);

let clock: TestClock;
beforeEach(() => void (clock = new TestClock()));
afterEach(() => clock.stop());

const keyOf = (name: string): string => `the-key-of-${name}-0123`;

async function enter(room: string, name: string, recovery: object = {}): Promise<RawClient> {
  const client = await RawClient.open({ room, fetcher, query: { recovery: "on" } });
  await client.connect({ key: keyOf(name), name, ...recovery });
  await client.receives("race");
  return client;
}

const raceOf = (client: RawClient): RaceView => client.received<RaceView>("race").at(-1)!;
const shows = (client: RawClient, what: string, matches: (race: RaceView) => boolean): Promise<true> =>
  client.until(what, () => (client.heard("race").length > 0 && matches(raceOf(client)) ? true : undefined));

/** A race that can be typed to its end within the first second. To be called before anybody enters. */
async function startShort(room: string, ...names: string[]): Promise<RawClient[]> {
  const race = env.TYPING_RACE.getByName(room);
  const state: RaceState = { phase: "waiting", passage: "A short passage.", players: [] };
  await runInDurableObject(race, (_race, { storage }) => storage.kv.put("race", state));
  await evict(race);
  return start(room, ...names);
}

/** Up to the moment when everybody may type. */
async function start(room: string, ...names: string[]): Promise<RawClient[]> {
  const clients: RawClient[] = [];
  // One after the other, for the order of their seats.
  for (const name of names) clients.push(await enter(room, name));
  await shows(clients[0]!, "the countdown", ({ phase }) => phase === "countdown");
  await clock.advance(COUNTDOWN_MS, env.TYPING_RACE.getByName(room));
  for (const client of clients) await shows(client, "the start", ({ phase }) => phase === "running");
  return clients;
}

async function type(client: RawClient, from: number, to: number): Promise<void> {
  const answers: Array<Promise<unknown>> = [];
  for (let position = from; position < to; position++) {
    // Nobody types faster than 300 words a minute.
    if (position % 20 === 19) {
      await Promise.all(answers);
      await clock.advance(1000);
    }
    answers.push(client.ask("keystroke", position, raceOf(client).passage[position]));
  }
  for (const answer of await Promise.all(answers)) expect(answer).toEqual({ ok: true });
}

describe("a race", () => {
  it("goes from match to result, and to a rematch in the same room", async () => {
    const [ada, ben] = await startShort("whole", "Ada", "Ben");
    expect(ada!.received("countdown")).toEqual([...ada!.received<number>("countdown")].toSorted((a, b) => b - a));
    const { length } = raceOf(ada!).passage;
    await type(ben!, 0, 2);
    await ada!.until("Ben's progress", () => ada!.received<number[]>("progress").find(([, second]) => second === 2));
    await ada!.receives("wpm");
    await type(ben!, 2, length);
    await clock.advance(1000);
    await type(ada!, 0, length);
    await shows(ada!, "the result", ({ phase }) => phase === "over");
    expect(raceOf(ada!).players).toMatchObject([
      { name: "Ada", position: length, place: 2 },
      { name: "Ben", position: length, place: 1 },
    ]);
    await shows(ben!, "the result", ({ phase }) => phase === "over");
    const heard = ben!.heard("race").length;
    for (let i = 0; i < 10; i++) expect(await ada!.ask("rematch")).toEqual({ ok: true });
    expect(await ben!.ask("ping")).toBeUndefined();
    expect(ben!.heard("race"), "asked ten times, told once").toHaveLength(heard + 1);
    expect(await ben!.ask("rematch")).toEqual({ ok: true });
    await shows(ben!, "the next countdown", ({ phase }) => phase === "countdown");
    expect(raceOf(ben!).players).toMatchObject([{ position: 0 }, { position: 0 }]);
  });

  it("shows the keystrokes of a tick together, also to their own player", async () => {
    const [ada, ben] = await start("ticking", "Ada", "Ben");
    const { passage } = raceOf(ada!);
    for (let position = 0; position < 20; position++) ada!.emit("keystroke", position, passage[position]);
    for (const racer of [ada!, ben!])
      await racer.until("all of them", () => racer.received<number[]>("progress").find(([own]) => own === 20));
    expect(ben!.heard("progress").length).toBeLessThan(20);
    // The last tick ends the clock, until the next keystroke.
    expect(await ada!.ask("keystroke", 20, passage[20])).toEqual({ ok: true });
    await ben!.until("the next one", () => ben!.received<number[]>("progress").find(([own]) => own === 21));
  });

  it("forgets nothing when its object is evicted in the middle of it", async () => {
    const [ada, ben] = await startShort("evicted", "Ada", "Ben");
    await type(ada!, 0, 7);
    await type(ben!, 0, 3);
    const before = raceOf(ada!);
    await evict(env.TYPING_RACE.getByName("evicted"));
    expect(await ada!.ask("keystroke", 6, "x")).toMatchObject({ error: { code: "WRONG_POSITION", position: 7 } });
    await type(ada!, 7, before.passage.length);
    await shows(ben!, "Ada's end", ({ players }) => players[0]!.place === 1);
    expect(raceOf(ben!)).toMatchObject({ phase: "running", passage: before.passage, players: [{}, { position: 3 }] });
    expect(raceOf(ben!).players[0]!.wordsPerMinute).toBeGreaterThan(0);
    // The clock of the race goes on, too.
    const heard = ben!.received("wpm").length;
    await ben!.receives("wpm", heard + 1);
  });

  it("asks for keystrokes again that were not stored when it was evicted", async () => {
    const [ada] = await start("behind", "Ada");
    const { passage } = raceOf(ada!);
    await type(ada!, 0, 2);
    for (let position = 2; position < 6; position++) ada!.emit("keystroke", position, passage[position]);
    await evict(env.TYPING_RACE.getByName("behind"));
    ada!.emit("keystroke", 20, passage[20]);
    const [{ code, position }] = (await ada!.receives("refused")) as [{ code: string; position: number }];
    expect(code).toBe("WRONG_POSITION");
    expect(position).toBeGreaterThanOrEqual(2);
    await type(ada!, position, 21);
  });

  it("goes on where it was after a crash, for those who come back", async () => {
    const [ada, ben] = await start("crashed", "Ada", "Ben");
    await type(ada!, 0, 5);
    const { passage } = raceOf(ada!);
    await crash();
    await Promise.all([ada!.closes(), ben!.closes()]);
    const back = await enter("crashed", "Ada");
    expect(raceOf(back)).toMatchObject({
      phase: "running",
      passage,
      players: [
        { name: "Ada", position: 5, isAway: false },
        { name: "Ben", position: 0, isAway: true },
      ],
    });
    await type(back, 5, 6);
  });

  it("keeps the seat of who loses the connection, and recovers it", async () => {
    const [ada, ben] = await start("recovered", "Ada", "Ben");
    await type(ben!, 0, 4);
    const { sid, pid } = ben!.accepted();
    const offset = ben!.heard("race").at(-1)![1];
    ben!.close();
    await shows(ada!, "that Ben is away", ({ players }) => players[1]!.isAway);
    await type(ada!, 0, 2);
    const back = await RawClient.open({ room: "recovered", fetcher, query: { recovery: "on" } });
    expect(await back.connect({ key: keyOf("Ben"), name: "Ben", pid, offset })).toBe(sid);
    await shows(back, "the race", ({ players }) => !players[1]!.isAway);
    expect(raceOf(back).players).toMatchObject([{ position: 2 }, { position: 4 }]);
    await type(back, 4, 5);
  });

  it.each(["waiting", "countdown", "running", "over"] as const)(
    "is erased when its object dies while it is %s, and nobody comes back",
    async (last) => {
      const room = `died-${last}`;
      const objectOf = () => env.TYPING_RACE.getByName(room);
      const isNew = last === "waiting" || last === "countdown";
      const [ada] = isNew ? [await enter(room, "Ada")] : await startShort(room, "Ada");
      if (last === "over") await type(ada!, 0, raceOf(ada!).passage.length);
      await shows(ada!, last, ({ phase }) => phase === last);
      expect(await rowsOf(objectOf())).toBeGreaterThan(0);
      await vi.waitFor(async () => expect(await alarmOf(objectOf())).not.toBeNull());
      await crash();
      for (let ms = 0; ms < 3 * AWAY_MS_MAX; ms += 5000) {
        await clock.advance(5000, objectOf());
        // For the deadlines that a timer waits for.
        await ring(objectOf());
      }
      expect(await rowsOf(objectOf())).toBe(0);
      expect(await alarmOf(objectOf())).toBeNull();
    },
  );

  it("is erased when everybody has left before it began", async () => {
    const ada = await enter("left", "Ada");
    ada.close();
    await ada.closes();
    const ben = await enter("left", "Ben");
    expect(raceOf(ben).players).toMatchObject([{ name: "Ben", seat: 0 }]);
  });
});

/** Rows of values and of missed events. */
const rowsOf = (race: DurableObjectStub): Promise<number> =>
  runInDurableObject(race, (_object, { storage }) => {
    const tables = storage.sql.exec<{ name: string }>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\'",
    );
    const rows = tables
      .toArray()
      .map(({ name }) => storage.sql.exec<{ n: number }>(`SELECT COUNT(*) AS n FROM "${name}"`).one().n);
    return [...storage.kv.list()].length + rows.reduce((sum, n) => sum + n, 0);
  });

describe("it refuses", () => {
  it("a seventh player", async () => {
    await Promise.all(["a", "b", "c", "d", "e", "f"].map((name) => enter("full", name)));
    await expect(enter("full", "g")).rejects.toMatchObject({ data: { code: "RACE_FULL" } });
  });

  it("a client that would recover the connection of another player", async () => {
    const ada = await enter("taken", "Ada");
    // The race does not begin before Eve has left, however slow the machine.
    await clock.advance(-HOUR_MS);
    await Promise.all(["b", "c", "d"].map((name) => enter("taken", name)));
    const eve = await enter("taken", "Eve");
    const { sid, pid } = eve.accepted();
    eve.close();
    await shows(ada, "that Eve has left", ({ players }) => players.length === 4);
    await enter("taken", "e");
    const fay = await enter("taken", "Fay");
    const back = await RawClient.open({ room: "taken", fetcher, query: { recovery: "on" } });
    expect(await back.connect({ key: keyOf("Fay"), name: "Fay", pid })).not.toBe(sid);
    await back.receives("race");
    const names = raceOf(fay).players.map(({ name }) => name);
    expect(names.toSorted()).toEqual(["Ada", "Fay", "b", "c", "d", "e"]);
  });

  it("floods at the cost of no row, and of no frame to others", async () => {
    const [ada, ben] = await start("flooded", "Ada", "Ben");
    const race = env.TYPING_RACE.getByName("flooded");
    const before = await rowsOf(race);
    for (let i = 0; i < 100; i++) ada!.emit("keystroke", 99, "x");
    await ada!.receives("refused", 100);
    expect(await rowsOf(race)).toBe(before);
    expect(await ben!.ask("ping")).toBeUndefined();
    expect([...ben!.heard("refused"), ...ben!.heard("progress")]).toEqual([]);
  });

  it("wrong keystrokes, by the ack or an event, to nobody else's notice", async () => {
    const [ada, ben] = await start("wrong", "Ada", "Ben");
    expect(await ada!.ask("keystroke", 0, "\0")).toMatchObject({ error: { code: "WRONG_CHARACTER", position: 0 } });
    for (const args of [[], [{}, []], [null, "A"], [0, "AA"], [1e9, "A"], [0, { length: 1 }]])
      ada!.emit("keystroke", ...args);
    const refusals = await ada!.receives("refused", 6);
    expect(refusals.map(({ code }) => code as string)).toEqual([
      ...Array.from({ length: 4 }, () => "INVALID_PAYLOAD"),
      "WRONG_POSITION",
      "INVALID_PAYLOAD",
    ]);
    expect(await ada!.ask("rematch")).toMatchObject({ error: { code: "NOT_OVER" } });
    expect(await ben!.ask("ping")).toBeUndefined();
    expect([...ben!.heard("refused"), ...ben!.heard("progress")]).toEqual([]);
    ada!.emit("ping");
    ada!.emit("rematch", "not a function");
    await ada!.receives("refused", 7);
    expect(ada!.packets.some(({ type }) => type === PacketType.CONNECT_ERROR)).toBe(false);
    expect(ada!.closed).toBeUndefined();
  });
});

describe("the Worker", () => {
  const bindings = { RACE: env.TYPING_RACE, MATCHMAKER: env.MATCHMAKER, WAIT_MS: env.WAIT_MS, TICK_MS: 0 };
  const ask = (path: string, method: string): Promise<Response> =>
    worker.fetch(new Request(`http://race.test${path}`, { method }), bindings);

  it("matches people who come within the wait, six to a room, also across an eviction", async () => {
    // The clock stands still, however long this takes.
    const now = vi.spyOn(Date, "now").mockReturnValue(Date.now());
    const rooms: string[] = [];
    const match = async (): Promise<void> => {
      const { room } = (await (await ask("/api/matchmake", "POST")).json()) as { room: string };
      rooms.push(room);
    };
    await match();
    await evict(env.MATCHMAKER.getByName("all"));
    for (let i = 0; i < 6; i++) await match();
    expect(rooms.slice(0, 6).every((room) => room === rooms[0])).toBe(true);
    expect(rooms[6]).not.toBe(rooms[0]);
    now.mockReturnValue(Date.now() + env.WAIT_MS);
    await match();
    expect(rooms[7]).not.toBe(rooms[6]);
    now.mockRestore();
  });

  it("has one call, by POST", async () => {
    expect((await ask("/api/matchmake", "GET")).status).toBe(405);
    expect((await ask("/api/others", "POST")).status).toBe(404);
  });
});
