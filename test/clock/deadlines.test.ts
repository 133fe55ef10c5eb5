// Deadlines: the named moments for which the wake clock of an object waits.
import { describe, expect, it } from "vitest";

import { Deadlines, type Deadline } from "../../src/clock/deadlines.ts";

const fail = (name: string, error: unknown): never => {
  throw new Error(`deadline ${name} failed`, { cause: error });
};

describe("deadlines", () => {
  it("have no next moment at first, then the soonest that is set", () => {
    const deadlines = new Deadlines();
    const [a, b] = [deadlines.add("a", () => undefined), deadlines.add("b", () => undefined)];
    expect(deadlines.next()).toBeUndefined();
    a.set(20);
    b.set(10);
    expect(deadlines.next()).toBe(10);
    b.clear();
    expect(deadlines.next()).toBe(20);
    a.clear();
    expect(deadlines.next()).toBeUndefined();
  });

  it("that piggyback do not wake the object, and run with the next due deadline once their moment has come", () => {
    const deadlines = new Deadlines();
    const ran: string[] = [];
    const piggyback = deadlines.add("piggyback", () => ran.push("piggyback"), { piggybacks: true });
    const other = deadlines.add("other", () => ran.push("other"));
    piggyback.set(10);
    expect(deadlines.next()).toBeUndefined();
    other.set(5);
    expect(deadlines.runDue(5, fail)).toEqual(["other"]);
    other.set(20);
    expect(deadlines.next()).toBe(20);
    expect(deadlines.runDue(20, fail)).toEqual(["piggyback", "other"]);
    expect([ran.length, piggyback.atMs]).toEqual([3, undefined]);
  });

  it("give the name of an alarm's deadline: not one that piggybacks or is far off, but one that is due a moment later", () => {
    const deadlines = new Deadlines();
    const piggyback = deadlines.add("piggyback", () => undefined, { piggybacks: true });
    const [ping, token] = [deadlines.add("ping", () => undefined), deadlines.add("token", () => undefined)];
    expect(deadlines.dueName(10, 1000)).toBeUndefined();
    piggyback.set(5);
    ping.set(30);
    token.set(90_000);
    expect(deadlines.dueName(10, 1000)).toBe("ping");
    expect(deadlines.dueName(50, 1000)).toBe("ping");
    ping.clear();
    expect(deadlines.dueName(50, 1000)).toBeUndefined();
  });

  it("call the watcher at each change, and at no other time", () => {
    const deadlines = new Deadlines();
    let changes = 0;
    const a = deadlines.add("a", () => undefined);
    deadlines.watch(() => changes++);
    const after = (change: () => void): number => {
      changes = 0;
      change();
      return changes;
    };
    expect(after(() => a.clear())).toBe(0);
    expect(after(() => a.pull(20))).toBe(1);
    expect(after(() => a.pull(30))).toBe(0);
    expect(after(() => a.set(30))).toBe(1);
    expect(after(() => a.set(30))).toBe(0);
    expect(after(() => deadlines.runDue(30, fail))).toBe(1);
    expect(after(() => a.set(40))).toBe(1);
    expect(after(() => deadlines.remove(a))).toBe(1);
  });

  it("may stand at 0", () => {
    const deadlines = new Deadlines();
    const ran: number[] = [];
    deadlines.add("a", (nowMs) => ran.push(nowMs)).set(0);
    expect(deadlines.next()).toBe(0);
    expect(deadlines.runDue(0, fail)).toEqual(["a"]);
    expect(ran).toEqual([0]);
  });

  it("are pulled forward, never pushed back; set moves them either way", () => {
    const deadlines = new Deadlines();
    const deadline = deadlines.add("a", () => undefined);
    deadline.pull(10);
    deadline.pull(20);
    expect(deadlines.next()).toBe(10);
    deadline.pull(5);
    expect(deadlines.next()).toBe(5);
    deadline.set(30);
    expect(deadlines.next()).toBe(30);
  });

  it("run when due, not before, once", () => {
    const deadlines = new Deadlines();
    const ran: string[] = [];
    deadlines.add("a", (nowMs) => ran.push(`a${nowMs}`)).set(10);
    deadlines.add("b", (nowMs) => ran.push(`b${nowMs}`)).set(11);
    deadlines.add("c", (nowMs) => ran.push(`c${nowMs}`)).set(12);
    expect(deadlines.runDue(9, fail)).toEqual([]);
    expect(deadlines.runDue(11, fail)).toEqual(["a", "b"]);
    expect(deadlines.runDue(11, fail)).toEqual([]);
    expect(ran).toEqual(["a11", "b11"]);
    expect(deadlines.next()).toBe(12);
  });

  it("do not run if an earlier one has moved or cleared them", () => {
    const deadlines = new Deadlines();
    const first = deadlines.add("first", () => {
      moved.set(20);
      cleared.clear();
    });
    const [moved, cleared] = ["moved", "cleared"].map((name) => deadlines.add(name, () => undefined)) as [
      Deadline,
      Deadline,
    ];
    for (const deadline of [first, moved, cleared]) deadline.set(10);
    expect(deadlines.runDue(10, fail)).toEqual(["first"]);
    expect(deadlines.runDue(20, fail)).toEqual(["moved"]);
  });

  it("are set to no moment that is none", () => {
    const deadline = new Deadlines().add("closing", () => {});
    expect(() => deadline.set(Number.NaN)).toThrow("closing: NaN");
    expect(() => deadline.pull(Number.NaN)).toThrow("closing: NaN");
    expect(deadline.atMs).toBeUndefined();
  });

  it("may set themselves again while they run, and do not run twice in one pass", () => {
    const deadlines = new Deadlines();
    let runs = 0;
    const deadline = deadlines.add("again", (nowMs) => {
      runs++;
      deadline.set(nowMs);
    });
    deadline.set(5);
    deadlines.runDue(10, fail);
    expect(runs).toBe(1);
    expect(deadlines.next()).toBe(10);
  });
});
