// Several namespaces over one database: each recovers its own events, and nothing else. And: a ban holds for
// recovering clients, too.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { evict, freshHouse, Guest } from "./guests.ts";
import { WINDOW_MS } from "./halls.ts";
import type { RecoveryAuth } from "./painters.ts";
import { TestClock } from "../../kit/testing.ts";
import { PacketType } from "../../wire/wire-client.ts";

let clock: TestClock;
beforeEach(() => void (clock = new TestClock()));
afterEach(() => clock.stop());

/** Named in the table with and without a name for its log; made by a pattern; made by a function. Names differ by case only, too. */
const NAMESPACES = ["/", "/lobby", "/hall-a", "/hall-b", "/hall-A", "/Hall-a"];

async function arrive(house: string, user: string, nsps: readonly string[] = NAMESPACES): Promise<Guest> {
  const guest = await Guest.open(house, user);
  for (const nsp of nsps) await guest.enter(nsp);
  return guest;
}

const recoveryAuthsOf = (guest: Guest): Map<string, RecoveryAuth> =>
  new Map(NAMESPACES.map((nsp) => [nsp, guest.recoveryAuth(nsp)]));

/** The logs and the tables that there are in a house's database. */
const stored = (house: string): Promise<{ names: string[]; tables: number; remembered: number }> =>
  runInDurableObject(env.HALLS.getByName(house), (_instance, { storage: { sql, kv } }) => ({
    names: [...sql.exec<{ name: string }>("SELECT name FROM recovery_logs ORDER BY name")].map(({ name }) => name),
    tables: sql.exec("SELECT name FROM sqlite_master WHERE name LIKE 'broadcasts%'").toArray().length,
    remembered: [...kv.list({ prefix: "remembered-" })].length,
  }));

describe("each namespace recovers its own: REC-3, REC-4", () => {
  type Step = (house: string, ada: Guest) => Promise<unknown>;
  const drop: Step = (_house, ada) => ada.drop();
  const sleep: Step = (house) => evict(house, "hibernate");
  const die: Step = (house) => evict(house, "close");
  const causes: Array<[cause: string, before: Step[], after: Step[]]> = [
    ["the server has not noticed", [], []],
    ["the object sleeps, before and in between", [sleep, drop], [sleep]],
    ["the object dies in between", [drop], [die]],
  ];

  it.each(causes)("%s", async (_cause, before, after) => {
    const house = freshHouse();
    const ada = await arrive(house, "ada");
    const others = await arrive(house, "ben");
    for (const [at, nsp] of NAMESPACES.entries()) {
      for (let i = 0; i < at; i++) await others.ask(nsp, "say", `heard ${i}`);
      await ada.ask(nsp, "join", `channel of ${nsp}`);
    }
    const recoveryAuths = recoveryAuthsOf(ada);
    expect(new Set([...recoveryAuths.values()].map(({ pid }) => pid.split(".")[1])).size).toBe(NAMESPACES.length);
    for (const step of before) await step(house, ada);
    const speaker = await arrive(house, "cyd");
    for (const nsp of NAMESPACES.toReversed()) {
      await speaker.ask(nsp, "say", `first in ${nsp}`);
      await speaker.ask(nsp, "say", `second in ${nsp}`);
    }
    for (const step of after) await step(house, ada);
    const back = await Guest.open(house, "ada");
    for (const [nsp, { sid, pid, ...heard }] of recoveryAuths) {
      expect(await back.enter(nsp, { pid, ...heard }), nsp).toEqual({ sid, pid });
      expect(back.said(nsp), nsp).toEqual([`cyd: first in ${nsp}`, `cyd: second in ${nsp}`]);
      expect(await back.ask(nsp, "join", "more"), nsp).toEqual(["door", `channel of ${nsp}`, "more"]);
    }
  });

  it("a pid of one namespace is invalid in another", async () => {
    const house = freshHouse();
    const ada = await arrive(house, "ada");
    const recoveryAuths = recoveryAuthsOf(ada);
    await ada.drop();
    const back = await Guest.open(house, "ada");
    for (const [at, nsp] of NAMESPACES.entries()) {
      const { sid, ...recoveryAuth } = recoveryAuths.get(NAMESPACES.at(at - 1)!)!;
      expect((await back.enter(nsp, recoveryAuth)).sid, nsp).not.toBe(sid);
    }
  });

  it("a namespace made on demand whose last guest left is recovered, also when its end was not noticed", async () => {
    const house = freshHouse();
    const [one, other] = ["/hall-x", "/hall-y"];
    const ada = await arrive(house, "ada", [one, other]);
    await ada.ask(one, "say", "mine");
    let recoveryAuths = [ada.recoveryAuth(one), ada.recoveryAuth(other)];
    for (const leave of [() => ada.drop(), () => Promise.resolve()]) {
      await leave();
      const back = await Guest.open(house, "ada");
      expect((await back.enter(one, recoveryAuths[0])).sid).toBe(recoveryAuths[0]!.sid);
      expect((await back.enter(other, recoveryAuths[1])).sid).toBe(recoveryAuths[1]!.sid);
      expect(await back.ask(one, "say", "again")).toContain("mine");
      recoveryAuths = [back.recoveryAuth(one), back.recoveryAuth(other)];
    }
  });
});

describe("the log of a namespace made on demand", () => {
  it("is dropped after a window, also where the object died with a socket in it; logs in use stay", async () => {
    const house = freshHouse();
    const ada = await arrive(house, "ada", ["/hall-died"]);
    await ada.ask("/hall-died", "say", "anybody?");
    await evict(house, "close");
    const ben = await arrive(house, "ben", ["/hall-kept", "/hall-left"]);
    await ben.ask("/hall-kept", "say", "here");
    ben.leave("/hall-left");
    await ben.ask("/hall-kept", "join", "x");
    expect((await stored(house)).names).toEqual(["/hall-died", "/hall-kept", "/hall-left", "/lobby"]);
    await clock.advance(WINDOW_MS + 1);
    await ben.enter("/hall-new");
    expect(await stored(house)).toEqual({
      names: ["/hall-kept", "/hall-new", "/lobby"],
      // Of the one in which something was said.
      tables: 2,
      remembered: 2,
    });
    expect(await ben.ask("/hall-kept", "say", "still")).toEqual(["here", "still"]);
  });

  it("stores nothing before the first socket", async () => {
    const house = freshHouse();
    const ada = await arrive(house, "ada", ["/"]);
    await ada.ask("/", "ban", "mallory", 60);
    const mallory = await Guest.open(house, "mallory");
    for (let i = 0; i < 3; i++) {
      await expect(mallory.enter(`/hall-${i}`)).rejects.toMatchObject({ data: { code: "BANNED" } });
    }
    expect(await stored(house)).toMatchObject({ names: ["/lobby"], remembered: 0 });
  });
});

describe("banned while away: REC-3", () => {
  it("is refused with its code, and nothing is replayed", async () => {
    const [house, nsp] = [freshHouse(), "/hall-a"];
    const [ada, ben] = [await arrive(house, "ada", [nsp]), await arrive(house, "ben", [nsp])];
    await ben.ask(nsp, "say", "heard");
    await ada.ask(nsp, "join", "x");
    await ada.drop();
    await ben.ask(nsp, "say", "missed");
    await ben.ask(nsp, "ban", "ada", 30);
    await evict(house, "hibernate");
    const back = await Guest.open(house, "ada");
    await expect(back.enter(nsp, ada.recoveryAuth(nsp))).rejects.toEqual({
      message: "You are banned",
      data: { code: "BANNED" },
    });
    expect(back.packets(nsp).map(({ type }) => type)).toEqual([PacketType.CONNECT_ERROR]);
  });

  it("disconnected by the ban: a fresh connection without missed events", async () => {
    const house = freshHouse();
    const [ada, ben] = [await arrive(house, "ada", ["/"]), await arrive(house, "ben", ["/"])];
    const recoveryAuth = ada.recoveryAuth("/");
    await ben.ask("/", "ban", "ada", 10);
    expect(await ada.closes()).toEqual({ code: 4003, reason: "forced server close" });
    await ben.ask("/", "say", "missed");
    await clock.advance(11_000);
    await evict(house, "hibernate");
    const back = await Guest.open(house, "ada");
    expect((await back.enter("/", recoveryAuth)).sid).not.toBe(recoveryAuth.sid);
    expect(back.said("/")).toEqual([]);
  });
});

describe("a handler that goes on when its namespace is no longer in service: REC-4", () => {
  /** Ben and Cyd enter, and Cyd hears all that they say: the recovery log takes further events. */
  async function isInService(house: string, nsp: string): Promise<void> {
    const [ben, cyd] = [await arrive(house, "ben", [nsp]), await arrive(house, "cyd", [nsp])];
    for (const text of ["one", "two"]) await ben.ask(nsp, "say", text);
    await cyd.ask(nsp, "say", "three");
    expect(cyd.said(nsp).slice(-3)).toEqual(["ben: one", "ben: two", "cyd: three"]);
  }

  it("made on demand, and made again meanwhile: its client that is back gets the event, and nobody else is disturbed", async () => {
    const house = freshHouse();
    const boss = await arrive(house, "boss", ["/lobby"]);
    const ada = await arrive(house, "ada", ["/hall-x"]);
    ada.emit("/hall-x", "work");
    await ada.ask("/hall-x", "join", "a channel");
    const recoveryAuth = ada.recoveryAuth("/hall-x");
    await ada.drop();
    const back = await Guest.open(house, "ada");
    await back.enter("/hall-x", recoveryAuth);
    await boss.ask("/lobby", "go on");
    await isInService(house, "/hall-x");
    expect(back.said("/hall-x")[0]).toBe("server: to one");
  });

  it("of an object that was erased meanwhile: nothing of it comes back", async () => {
    const house = freshHouse();
    const ada = await arrive(house, "ada", ["/lobby"]);
    ada.emit("/lobby", "work");
    await ada.ask("/lobby", "join", "a channel");
    await runInDurableObject(env.HALLS.getByName(house), (instance) => instance.wipe());
    const boss = await arrive(house, "boss", ["/lobby"]);
    await boss.ask("/lobby", "go on");
    await isInService(house, "/lobby");
    expect(boss.said("/lobby")[0]).toBe("ben: one");
  });
});
