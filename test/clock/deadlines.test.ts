// The list of named moments that a room's only clock looks at.
import { describe, expect, it } from "vitest";

import { Deadlines, type Deadline } from "../../src/clock/deadlines.ts";

const fail = (name: string, error: unknown): never => {
  throw new Error(`deadline ${name} failed`, { cause: error });
};

describe("deadlines", () => {
  it("are none at first, and the soonest of those that are set", () => {
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

  it("that ride wake nobody, and run with the next that is due once their moment has come", () => {
    const deadlines = new Deadlines();
    const ran: string[] = [];
    const rider = deadlines.add("rider", () => ran.push("rider"), { rides: true });
    const other = deadlines.add("other", () => ran.push("other"));
    rider.set(10);
    expect(deadlines.next()).toBeUndefined();
    other.set(5);
    expect(deadlines.runDue(5, fail)).toEqual(["other"]);
    other.set(20);
    expect(deadlines.next()).toBe(20);
    expect(deadlines.runDue(20, fail)).toEqual(["rider", "other"]);
    expect([ran.length, rider.atMs]).toEqual([3, undefined]);
  });

  it("say what an alarm is for: no rider, nothing that is far off, and what is due a moment after it, too", () => {
    const deadlines = new Deadlines();
    const rider = deadlines.add("rider", () => undefined, { rides: true });
    const [ping, token] = [deadlines.add("ping", () => undefined), deadlines.add("token", () => undefined)];
    expect(deadlines.dueName(10, 1000)).toBeUndefined();
    rider.set(5);
    ping.set(30);
    token.set(90_000);
    expect(deadlines.dueName(10, 1000)).toBe("ping");
    expect(deadlines.dueName(50, 1000)).toBe("ping");
    ping.clear();
    expect(deadlines.dueName(50, 1000)).toBeUndefined();
  });

  it("tell whoever watches of every change, and of nothing else", () => {
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

  it("that one which ran before has moved or cleared are not due any more", () => {
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

  it("may set themselves anew while they run, without running again in the same go", () => {
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
