// Tests of namespaces whose code comes from a Socket.IO server on Node: it sets properties on sockets, repeats work, and has handlers that fail
// for each client.
import { describe, expect, it } from "vitest";

import { Namespace } from "../../../src/socketio/server/namespace.ts";
import type { Socket } from "../../../src/socketio/server/socket.ts";
import { FAILURE_LOGGED_MAX, FAILURE_WINDOW_MS } from "../../../src/socketio/server/failures.ts";
import { FakeShell, type Client } from "../../host/harness.ts";
import { probeShell, type AnyArgument } from "../../host/probe.ts";

describe("a property that the application sets on a socket", () => {
  const parts = {
    handlers: {
      enter: (socket: AnyArgument, name: string) => void (socket.username = name),
      who: (socket: AnyArgument, ack: AnyArgument) => ack(socket.username),
    },
  };

  it("is there until the object sleeps; the log names it once, and what to use", async () => {
    const { shell } = probeShell(parts);
    const [ada, ben] = [await shell.connect(), await shell.connect()];
    ada.emit("enter", "ada");
    ada.emit("enter", "Ada");
    ben.emit("enter", "ben");
    expect([ada.call("who").answer, ben.call("who").answer]).toEqual(["Ada", "ben"]);
    expect(shell.problems.map(({ error }) => String(error))).toEqual([
      "Error: socket.username is lost when the object sleeps: use socket.data.username",
    ]);
    shell.evict();
    expect(ada.call("who").answer).toBeNull();
  });

  it("is no part of what the server itself sets on it", async () => {
    const { shell } = probeShell({
      handlers: {
        all: (socket) => {
          socket.data = { name: "ada" };
          socket.join("red");
          socket.volatile.emit("x");
        },
      },
    });
    const ada = await shell.connect();
    ada.emit("all");
    ada.leave();
    expect(shell.problems).toEqual([]);
  });
});

describe("every", () => {
  type Work = (this: Clock, nowMs: number) => unknown;

  class Clock extends Namespace {
    readonly #parts: { readonly ms: number; readonly work: Work };
    readonly handlers = {
      end: (): void => this.#end(),
      mark: (socket: Socket): void => void (socket.data = "marked"),
    };
    #end!: () => void;

    constructor(ms: number, work: Work) {
      super();
      this.#parts = { ms, work };
    }

    override onStart(): void {
      this.#end = this.every("tick", this.#parts.ms, this.#parts.work.bind(this));
    }
  }

  const clockShell = (ms: number, work: Work): FakeShell => new FakeShell(() => ({ "/": new Clock(ms, work) }));

  it("runs in each period, at its moment whatever lateness came before, and reaches clients", async () => {
    const atMs: number[] = [];
    const shell = clockShell(1000 / 60, function (nowMs) {
      atMs.push(nowMs);
      this.emit("tick");
    });
    const ada = await shell.connect();
    // Each run is some milliseconds late.
    for (let step = 0; step < 100; step++) {
      shell.nowMs += 10;
      shell.advance(0);
    }
    expect(atMs).toHaveLength(60);
    expect(ada.heard("tick")).toHaveLength(60);
  });

  it("is late at most once after a pause: what was missed is not made up for", async () => {
    let runs = 0;
    const shell = clockShell(100, () => void runs++);
    await shell.connect();
    shell.nowMs += 950;
    shell.advance(0);
    expect(runs).toBe(1);
    shell.advance(50);
    expect(runs).toBe(2);
  });

  it("ends with the last socket, and begins again with the next one", async () => {
    let runs = 0;
    const shell = clockShell(1000, () => void runs++);
    shell.advance(10_000);
    expect([runs, shell.quietMs]).toEqual([0, Infinity]);
    const [ada, ben] = [await shell.connect(), await shell.connect()];
    shell.advance(2000);
    ada.leave();
    shell.advance(2000);
    expect(runs).toBe(4);
    ben.leave();
    shell.advance(10_000);
    expect([runs, shell.quietMs]).toEqual([4, Infinity]);
    await shell.connect();
    shell.advance(1000);
    expect(runs).toBe(5);
  });

  it("lets the object sleep between two runs, and misses and repeats none by that", async () => {
    const atMs: number[] = [];
    const shell = clockShell(60_000, (nowMs) => void atMs.push(nowMs));
    const ada = await shell.connect();
    for (let minute = 0; minute < 5; minute++) {
      shell.advance(10_000);
      expect(shell.canSleep).toBe(true);
      shell.evict();
      shell.advance(49_500);
      // The alarm woke it, shortly before the moment.
      shell.evict();
      shell.advance(500);
      shell.evict();
    }
    expect(atMs.map((at, index) => at - atMs[0]! - index * 60_000)).toEqual([0, 0, 0, 0, 0]);
    expect(ada.closing).toBeUndefined();
  });

  it("runs never twice at a time: the next run waits for the end of an asynchronous one", async () => {
    const gates: Array<() => void> = [];
    const shell = clockShell(1000, () => new Promise<void>((resolve) => void gates.push(resolve)));
    await shell.connect();
    shell.advance(5000);
    expect(gates).toHaveLength(1);
    gates[0]!();
    await Promise.resolve();
    await Promise.resolve();
    shell.advance(1000);
    expect(gates).toHaveLength(2);
  });

  it.each<[how: string, work: Work]>([
    [
      "throws",
      () => {
        throw new Error("bug");
      },
    ],
    ["rejects", async () => Promise.reject(new Error("bug"))],
  ])("goes on after a run that %s, which the log names, and not without end", async (_how, work) => {
    let runs = 0;
    const shell = clockShell(1000, function (nowMs) {
      runs++;
      return work.call(this, nowMs);
    });
    await shell.connect();
    for (let second = 0; second < 20; second++) {
      shell.advance(1000);
      await shell.settle();
      await new Promise(setImmediate);
    }
    expect(runs).toBe(20);
    expect(shell.problems[0]).toMatchObject({ problem: "failed in /: tick", error: new Error("bug") });
    expect(shell.problems).toHaveLength(FAILURE_LOGGED_MAX + 1);
  });

  it("ends by the function that it returns", async () => {
    let runs = 0;
    const shell = clockShell(1000, () => void runs++);
    const ada = await shell.connect();
    shell.advance(1000);
    ada.emit("end");
    shell.advance(5000);
    await shell.connect();
    shell.advance(5000);
    expect(runs).toBe(1);
  });

  it.each([0, -1, Number.NaN, Infinity])("of %s ms is an error that names it", (ms) => {
    expect(() => clockShell(ms, () => {})).toThrow(/^every: tick: /);
  });
});

describe("a handler that fails for each client that comes", () => {
  const bugs: Parameters<typeof probeShell>[0] = {
    handlers: {
      login: () => {
        throw new Error("no table of users");
      },
      other: () => {
        throw new Error("something else");
      },
    },
  };

  it("SIO-15: is said once to go on failing, after some times in full; other failures are logged all the same", async () => {
    const { shell } = probeShell(bugs);
    for (let reconnect = 0; reconnect < 50; reconnect++) {
      const client = await shell.connect();
      client.emit("login");
      client.leave();
    }
    const failed = Array<string>(FAILURE_LOGGED_MAX).fill("failed in /: login");
    const said = "failed in /: login, again and again: not logged any more for five minutes";
    expect(shell.problems.map(({ problem }) => problem)).toEqual([...failed, said]);
    expect(shell.problems.map(({ error }) => String(error))).toEqual(
      Array<string>(FAILURE_LOGGED_MAX + 1).fill("Error: no table of users"),
    );
    (await shell.connect()).emit("other");
    expect(shell.problems.at(-1)).toMatchObject({ problem: "failed in /: other", error: new Error("something else") });
    shell.advance(FAILURE_WINDOW_MS);
    (await shell.connect()).emit("login");
    expect(shell.problems.at(-1)).toMatchObject({ problem: "failed in /: login" });
  });

  it("SIO-15: is said once to go on failing, though the same clients bring it about again", async () => {
    const { shell } = probeShell(bugs);
    const clients: Client[] = [];
    for (let at = 0; at <= FAILURE_LOGGED_MAX; at++) clients.push(await shell.connect());
    for (let times = 0; times < 3; times++) for (const client of clients) client.emit("login");
    const notes = shell.problems.filter(({ problem }) => problem.includes("not logged any more"));
    expect(notes).toHaveLength(1);
    expect(shell.problems).toHaveLength(FAILURE_LOGGED_MAX + 1);
  });

  it("that decides about CONNECTs, too", async () => {
    const { shell } = probeShell({
      authorize: () => {
        throw new Error("no table of users");
      },
    });
    for (let reconnect = 0; reconnect < 50; reconnect++) (await shell.open().connect()).leave();
    expect(shell.problems).toHaveLength(FAILURE_LOGGED_MAX + 1);
    expect(shell.problems[0]).toMatchObject({ problem: "a CONNECT could not be decided" });
  });
});
