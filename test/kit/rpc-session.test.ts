// Targets that simulated objects return to their callers: further calls reach them, and keep their object awake, until they are disposed of, one
// of both ends, or a call fails.
import { beforeEach, expect, it } from "vitest";

import { Deployment } from "./simulator/deployment.ts";
import type { ObjectHost } from "./simulator/object-host.ts";
import { RpcTarget } from "./simulator/rpc-session.ts";
import { World } from "./simulator/world.ts";

const SLEEP_AFTER_MS = 1000;

const disposed: string[] = [];

class Counting extends RpcTarget {
  #count = 0;

  async add(by: number): Promise<number> {
    return (this.#count += by);
  }

  [Symbol.dispose](): void {
    disposed.push(`at ${this.#count}`);
  }
}

class Counter {
  async begin(): Promise<object> {
    return { at: 0, counting: new Counting() };
  }
}

interface Begun extends Disposable {
  readonly at: number;
  readonly counting: Disposable & { add(by: number): Promise<number> };
}

let world: World;
let deployment: Deployment;
let host: ObjectHost;
let begin: () => Promise<Begun>;
beforeEach(() => {
  disposed.length = 0;
  world = new World(1);
  deployment = new Deployment(world, {
    objects: { COUNTER: Counter },
    worker: () => new Response(),
    commitMs: [0, 0],
    sleepAfterMs: SLEEP_AFTER_MS,
  });
  world.afterEvent = () => deployment.settle();
  host = deployment.object("COUNTER", "a");
  begin = () => after(deployment.call(host, "begin", []) as Promise<Begun>);
});

/** Lets time pass until the answer is there. */
async function after<Result>(answer: Promise<Result>): Promise<Result> {
  answer.catch(() => undefined);
  await world.runUntil(world.nowMs + 100);
  return answer;
}

const pass = (ms: number): Promise<void> => world.runUntil(world.nowMs + ms);

it("takes further calls, until the caller disposes of it", async () => {
  const { at, counting } = await begin();
  expect([at, await after(counting.add(2)), await after(counting.add(3))]).toEqual([0, 2, 5]);
  await pass(10 * SLEEP_AFTER_MS);
  expect([host.sleeps, disposed]).toEqual([0, []]);
  counting[Symbol.dispose]();
  await expect(after(counting.add(1))).rejects.toThrow("the object died");
  await pass(20 * SLEEP_AFTER_MS);
  expect([host.sleeps, disposed]).toEqual([1, ["at 5"]]);
});

it("is disposed of with the answer that has it", async () => {
  const begun = await begin();
  begun[Symbol.dispose]();
  await pass(20 * SLEEP_AFTER_MS);
  expect([host.sleeps, disposed]).toEqual([1, ["at 0"]]);
});

it("ends with a call that fails on its way", async () => {
  const { counting } = await begin();
  deployment.callsFail = true;
  const answers = await Promise.allSettled(Array.from({ length: 20 }, () => after(counting.add(1))));
  expect(answers.map(({ status }) => status)).toContain("rejected");
  deployment.callsFail = false;
  await expect(after(counting.add(1))).rejects.toThrow("the object died");
  await pass(20 * SLEEP_AFTER_MS);
  expect(host.sleeps).toBe(1);
});

it("ends with its object", async () => {
  const { counting } = await begin();
  host.die(true, true);
  await expect(after(counting.add(1))).rejects.toThrow("the object died");
  expect(host.instance).toBeUndefined();
});
