// Several namespaces over one database: each recovers its own events, and nothing else. And: a ban holds for
// recovering clients, too.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";

import { evict, freshHouse, Guest, type Ticket } from "./guests.ts";
import { WINDOW_MS } from "./halls.ts";

const realNow = Date.now.bind(Date);
let skewMs = 0;
afterEach(() => {
  vi.restoreAllMocks();
  skewMs = 0;
});

/** Clocks go on, later by so much. */
function advance(ms: number): void {
  skewMs += ms;
  vi.spyOn(Date, "now").mockImplementation(() => realNow() + skewMs);
}

/** Named in the table with and without a name for its log; made by a pattern; made by a function. Names differ by case only, too. */
const NAMESPACES = ["/", "/lobby", "/hall-a", "/hall-b", "/hall-A", "/Hall-a"];

async function arrive(house: string, user: string, nsps: readonly string[] = NAMESPACES): Promise<Guest> {
  const guest = await Guest.open(house, user);
  for (const nsp of nsps) await guest.enter(nsp);
  return guest;
}

const ticketsOf = (guest: Guest): Map<string, Ticket> => new Map(NAMESPACES.map((nsp) => [nsp, guest.ticket(nsp)]));

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
    ["the line breaks", [drop], []],
    ["the server has not noticed", [], []],
    ["the object sleeps, before and in between", [sleep, drop], [sleep]],
    ["the object dies", [die], []],
    ["the object dies in between", [drop], [die]],
  ];

  it.each(causes)("%s", async (_cause, before, after) => {
    const house = freshHouse();
    const ada = await arrive(house, "ada");
    const others = await arrive(house, "ben");
    for (const [at, nsp] of NAMESPACES.entries()) {
      for (let i = 0; i < at; i++) await others.call(nsp, "say", `heard ${i}`);
      await ada.call(nsp, "join", `channel of ${nsp}`);
    }
    const tickets = ticketsOf(ada);
    expect(new Set([...tickets.values()].map(({ pid }) => pid.split(".")[1])).size).toBe(NAMESPACES.length);
    for (const step of before) await step(house, ada);
    const speaker = await arrive(house, "cyd");
    for (const nsp of NAMESPACES.toReversed()) {
      await speaker.call(nsp, "say", `first in ${nsp}`);
      await speaker.call(nsp, "say", `second in ${nsp}`);
    }
    for (const step of after) await step(house, ada);
    const back = await Guest.open(house, "ada");
    for (const [nsp, { sid, pid, ...heard }] of tickets) {
      expect(await back.enter(nsp, { pid, ...heard }), nsp).toEqual({ sid, pid });
      expect(back.said(nsp), nsp).toEqual([`cyd: first in ${nsp}`, `cyd: second in ${nsp}`]);
      expect(await back.call(nsp, "join", "more"), nsp).toEqual(["door", `channel of ${nsp}`, "more"]);
    }
  });

  it("a ticket of one namespace is none in another", async () => {
    const house = freshHouse();
    const ada = await arrive(house, "ada");
    const tickets = ticketsOf(ada);
    await ada.drop();
    const back = await Guest.open(house, "ada");
    for (const [at, nsp] of NAMESPACES.entries()) {
      const { sid, ...ticket } = tickets.get(NAMESPACES.at(at - 1)!)!;
      expect((await back.enter(nsp, ticket)).sid, nsp).not.toBe(sid);
    }
  });

  it("a namespace made on demand whose last guest left is recovered as it was, alone and unnoticed too", async () => {
    const house = freshHouse();
    const [one, other] = ["/hall-x", "/hall-y"];
    const ada = await arrive(house, "ada", [one, other]);
    await ada.call(one, "say", "mine");
    let tickets = [ada.ticket(one), ada.ticket(other)];
    for (const leave of [() => ada.drop(), () => Promise.resolve()]) {
      await leave();
      const back = await Guest.open(house, "ada");
      expect((await back.enter(one, tickets[0])).sid).toBe(tickets[0]!.sid);
      expect((await back.enter(other, tickets[1])).sid).toBe(tickets[1]!.sid);
      expect(await back.call(one, "say", "again")).toContain("mine");
      tickets = [back.ticket(one), back.ticket(other)];
    }
  });
});

describe("the log of a namespace made on demand", () => {
  it("is dropped after a window, also where the object died with a socket in it; logs in use stay", async () => {
    const house = freshHouse();
    const ada = await arrive(house, "ada", ["/hall-died"]);
    await ada.call("/hall-died", "say", "anybody?");
    await evict(house, "close");
    const ben = await arrive(house, "ben", ["/hall-kept", "/hall-left"]);
    await ben.call("/hall-kept", "say", "here");
    ben.leave("/hall-left");
    await ben.call("/hall-kept", "join", "x");
    expect((await stored(house)).names).toEqual(["/hall-died", "/hall-kept", "/hall-left", "/lobby"]);
    advance(WINDOW_MS + 1);
    await ben.enter("/hall-new");
    expect(await stored(house)).toEqual({
      names: ["/hall-kept", "/hall-new", "/lobby"],
      tables: 2 * 4,
      remembered: 2,
    });
    expect(await ben.call("/hall-kept", "say", "still")).toEqual(["here", "still"]);
  });

  it("stores nothing before the first socket", async () => {
    const house = freshHouse();
    const ada = await arrive(house, "ada", ["/"]);
    await ada.call("/", "ban", "mallory", 60);
    const mallory = await Guest.open(house, "mallory");
    for (let i = 0; i < 3; i++) {
      await expect(mallory.enter(`/hall-${i}`)).rejects.toMatchObject({ data: { code: "BANNED" } });
    }
    expect(await stored(house)).toMatchObject({ names: ["/lobby"], remembered: 0 });
  });
});

describe("banned between going and coming back: REC-3", () => {
  async function bannedWhileAway(nsp: string): Promise<{ house: string; ben: Guest; ticket: Ticket }> {
    const house = freshHouse();
    const [ada, ben] = [await arrive(house, "ada", [nsp]), await arrive(house, "ben", [nsp])];
    await ben.call(nsp, "say", "heard");
    await ada.call(nsp, "join", "x");
    await ada.drop();
    await ben.call(nsp, "say", "missed");
    await ben.call(nsp, "ban", "ada", 30);
    return { house, ben, ticket: ada.ticket(nsp) };
  }

  it.each(["/", "/hall-a"])("is refused with its code, and nothing is replayed (%s)", async (nsp) => {
    const { house, ticket } = await bannedWhileAway(nsp);
    await evict(house, "hibernate");
    const back = await Guest.open(house, "ada");
    await expect(back.enter(nsp, ticket)).rejects.toEqual({ message: "You are banned", data: { code: "BANNED" } });
    expect(back.packets(nsp).map(({ digit }) => digit)).toEqual(["4"]);
  });

  it("once the ban is over, the same ticket recovers: being refused has used nothing up", async () => {
    const { house, ticket } = await bannedWhileAway("/");
    const refused = await Guest.open(house, "ada");
    await expect(refused.enter("/", ticket)).rejects.toMatchObject({ data: { code: "BANNED" } });
    advance(31_000);
    const back = await Guest.open(house, "ada");
    expect((await back.enter("/", ticket)).sid).toBe(ticket.sid);
    expect(back.said("/")).toEqual(["ben: missed"]);
  });

  it("put out by the ban itself: afterwards a fresh connection, without missed events", async () => {
    const house = freshHouse();
    const [ada, ben] = [await arrive(house, "ada", ["/"]), await arrive(house, "ben", ["/"])];
    const ticket = ada.ticket("/");
    await ben.call("/", "ban", "ada", 10);
    expect(await ada.closes()).toEqual({ code: 4003, reason: "forced server close" });
    await ben.call("/", "say", "missed");
    advance(11_000);
    await evict(house, "hibernate");
    const back = await Guest.open(house, "ada");
    expect((await back.enter("/", ticket)).sid).not.toBe(ticket.sid);
    expect(back.said("/")).toEqual([]);
  });
});
