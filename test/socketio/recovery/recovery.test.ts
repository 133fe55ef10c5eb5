// Recovery: the state and the missed events that a socket gets back, and the log of each namespace.
import { PacketType } from "socket.io-parser";
import { describe, expect, it, vi } from "vitest";

import { MISSED_BYTES_MAX } from "../../../src/socketio/recovery/recovery.ts";
import type { Socket } from "../../../src/socketio/server/socket.ts";
import { CLOSINGS } from "../../../src/socketio/wire/closings.ts";
import { LEFT_CHANNELS_MAX } from "../../../src/storage/channel-history.ts";
import { FakeShell, type Client } from "../../host/harness.ts";
import { MemoryRecoveryLog, RecoverableProbe } from "../../host/memory-recovery-log.ts";
import { Probe, type AnyArgument, type ProbeParts } from "../../host/probe.ts";

function recoverableShell(parts: ProbeParts): { shell: FakeShell; logs: MemoryRecoveryLog[]; calls: string[] } {
  const calls: string[] = [];
  const logs = [new MemoryRecoveryLog("one", () => shell.nowMs), new MemoryRecoveryLog("two", () => shell.nowMs)];
  const shell: FakeShell = new FakeShell(() => ({
    "/": new RecoverableProbe(logs[0]!, parts, calls),
    "/b": new RecoverableProbe(logs[1]!, parts, calls),
  }));
  return { shell, logs, calls };
}

const HANDSHAKE = { canRecover: true };

/** The CONNECT data that brings a client back into that namespace; without an offset until it hears an event. */
function recoveryAuthOf(client: Client, nsp = "/"): { sid: string; pid: string; offset?: string } {
  const here = client.packets.filter((packet) => packet.nsp === nsp && packet.id === undefined);
  const { data } = here.find(({ type }) => type === PacketType.CONNECT)! as AnyArgument;
  const last = here.findLast(({ type }) => type === PacketType.EVENT);
  return { ...data, ...(last && { offset: last.data.at(-1) }) };
}

describe("socket.data of a socket whose end was not noticed is as last changed", () => {
  const self: Record<string, unknown> = {};
  self["self"] = self;
  const kinds: Array<[kind: string, first: unknown, change: (data: AnyArgument) => void]> = [
    ["a Map", new Map([["a", 1]]), (map) => map.set("b", new Set([2]))],
    ["a Set", new Set([1]), (set) => set.add(2)],
    ["bytes", new Uint8Array([1, 2]), (bytes) => (bytes[1] = 3)],
    ["a buffer", new Uint8Array([1, 2]).buffer, (buffer) => (new Uint8Array(buffer)[0] = 7)],
    ["a date", new Date(0), (date) => date.setTime(5)],
    ["a bigint", { n: 1n }, (data) => (data.n = 2n)],
    ["a number that is none", { n: Number.NaN }, (data) => (data.n = Infinity)],
    ["nothing", { n: undefined }, (data) => delete data.n],
    ["text where a number was", { n: 1 }, (data) => (data.n = "1")],
    ["what refers to itself", self, (data) => (data.more = 1)],
  ];

  it.each(kinds)("%s", async (_kind, first, change) => {
    let kept: unknown;
    const { shell } = recoverableShell({
      authorize: () => ({ accepted: true, data: { kept: structuredClone(first) } }),
      handlers: {
        change: (socket) => change(socket.data.kept),
        look: (socket) => void (kept = socket.peek()["kept"]),
      },
    });
    const client = await shell.connect(HANDSHAKE);
    client.emit("change");
    const expected = structuredClone(first);
    change(expected);
    const recoveryAuth = recoveryAuthOf(client);
    const back = await shell.connect(HANDSHAKE, recoveryAuth);
    expect([back.socketId(), client.closing?.code]).toEqual([recoveryAuth.sid, 4005]);
    back.emit("look");
    expect(kept).toStrictEqual(expected);
    expect(shell.problems).toEqual([]);
  });

  it("and is written only when it changed", async () => {
    const { shell, logs } = recoverableShell({
      authorize: () => ({ accepted: true, data: { tags: new Map([["a", [1n, new Date(0)]]]) } }),
      handlers: { touch: (socket) => void socket.data },
    });
    const client = await shell.connect(HANDSHAKE);
    const { writes } = logs[0]!;
    for (let i = 0; i < 5; i++) {
      client.emit("touch");
      shell.evict();
    }
    expect(logs[0]!.writes).toBe(writes);
  });
});

it("a session whose former connection is still open recovers all its namespaces, and each is left once: REC-4", async () => {
  const { shell, calls } = recoverableShell({});
  const client = await shell.connect(HANDSHAKE);
  await client.connect(undefined, "/b");
  const recoveryAuths = [recoveryAuthOf(client), recoveryAuthOf(client, "/b")];
  calls.length = 0;
  const back = await shell.connect(HANDSHAKE, recoveryAuths[0]);
  await back.connect(recoveryAuths[1], "/b");
  const ids = recoveryAuths.map(({ sid }) => sid);
  expect([back.socketId(), back.socketId("/b")]).toEqual(ids);
  expect(calls).toEqual([...ids.map((id) => `disconnect ${id}: transport close`), ...ids.map((id) => `connect ${id}`)]);
});

it("changes of socket.data by an ask's continuation come back with the socket, which is not asked again", async () => {
  const { shell } = recoverableShell({
    handlers: { ask: (socket) => void socket.ask("q", [], { handler: "goOn", data: "this", timeoutMs: 1000 }) },
    continuations: { goOn: (socket, { kind }, data) => (socket.data.open = [kind, data]) },
    onConnect: (socket) => socket.emit("data", socket.peek(), socket.recovered, socket.asks.length),
  });
  const client = await shell.connect(HANDSHAKE);
  client.emit("ask");
  const recoveryAuth = recoveryAuthOf(client);
  client.leave();
  const back = await shell.connect(HANDSHAKE, recoveryAuth);
  expect(back.heard("data")[0]!.slice(0, 3)).toEqual([{ open: ["disconnected", "this"] }, true, 0]);
});

/** Names of the events of that connection, in order. */
const namesOf = (client: Client): string[] =>
  client.packets.filter(({ type }) => type === PacketType.EVENT).map(({ data }) => data[0] as string);

describe("a former connection that is still open", () => {
  it("is closed first: the recovering client gets the events about that, too: REC-4", async () => {
    const { shell } = recoverableShell({
      onDisconnect(socket) {
        this.emit("left", socket.id);
      },
      handlers: {
        all(_socket, text) {
          this.emit("all", text);
        },
      },
    });
    const ada = await shell.connect(HANDSHAKE);
    const ben = await shell.connect(HANDSHAKE);
    ben.emit("all", 1);
    const back = await shell.connect(HANDSHAKE, recoveryAuthOf(ada));
    ben.emit("all", 2);
    expect(back.socketId()).toBe(ada.socketId());
    expect(namesOf(back)).toEqual(["left", "all"]);
    expect(namesOf(ben)).toEqual(namesOf(ada).concat(["left", "all"]));
  });

  it("is closed, and can be recovered later, if the namespace is full", async () => {
    let isFull = false;
    const { shell } = recoverableShell({
      admit: () => (isFull ? { accepted: false, message: "not now" } : undefined),
    });
    const recoveryAuth = recoveryAuthOf(await shell.connect(HANDSHAKE));
    isFull = true;
    expect((await shell.connect(HANDSHAKE, recoveryAuth)).refusal).toEqual({ message: "not now" });
    isFull = false;
    expect((await shell.connect(HANDSHAKE, recoveryAuth)).socketId()).toBe(recoveryAuth.sid);
  });
});

describe("a client that got no event", () => {
  it("gets none for the sake of an offset: REC-1", async () => {
    const { shell } = recoverableShell({});
    const ada = await shell.connect(HANDSHAKE);
    expect(ada.packets.map(({ type }) => type)).toEqual([PacketType.CONNECT]);
    expect((ada.packets[0]!.data as { pid: string }).pid).toMatch(/^[\w-]+\.one\.0\.[0-9a-f]{32}$/);
    const back = await shell.connect(HANDSHAKE, recoveryAuthOf(ada));
    expect([back.socketId(), back.packets.length]).toEqual([ada.socketId(), 1]);
  });

  it("recovers from where its socket began, again and again: REC-3", async () => {
    const { shell, logs } = recoverableShell({});
    logs[0]!.append({ event: "before", args: [] });
    const ada = await shell.connect(HANDSHAKE);
    const recoveryAuth = recoveryAuthOf(ada);
    for (const missed of [[], ["one"], ["one", "two"]]) {
      if (missed.length > 0) logs[0]!.append({ event: missed.at(-1)!, args: [] });
      const back = await shell.connect(HANDSHAKE, recoveryAuth);
      expect(recoveryAuthOf(back)).toMatchObject({ sid: recoveryAuth.sid, pid: recoveryAuth.pid });
      expect(namesOf(back)).toEqual(missed);
    }
  });

  it("that names an offset of an earlier socket gets nothing from before its own: REC-3", async () => {
    const { shell, logs } = recoverableShell({});
    logs[0]!.append({ event: "before", args: [] });
    const ada = await shell.connect(HANDSHAKE);
    logs[0]!.append({ event: "missed", args: [] });
    const back = await shell.connect(HANDSHAKE, { ...recoveryAuthOf(ada), offset: "one.0" });
    expect(back.socketId()).toBe(ada.socketId());
    expect(namesOf(back)).toEqual(["missed"]);
  });

  it("gets a fresh connection if its socket began beyond the end of the log, as after a backup: REC-3", async () => {
    const { shell, logs } = recoverableShell({});
    logs[0]!.append({ event: "lost", args: [] });
    const recoveryAuth = recoveryAuthOf(await shell.connect(HANDSHAKE));
    const [older] = [new MemoryRecoveryLog("one")];
    const restored = new FakeShell(() => ({ "/": new RecoverableProbe(older, {}, []) }));
    for (const offset of [undefined, "one.0", "one.1"]) {
      const back = await restored.connect(HANDSHAKE, { ...recoveryAuth, ...(offset && { offset }) });
      expect((back.packets[0]!.data as { pid: string }).pid).not.toBe(recoveryAuth.pid);
    }
  });
});

describe("events to one socket whose connection has broken: REC-4", () => {
  /** A handler goes on once the connection of its client has broken. */
  async function interrupted(emit: (socket: Socket) => unknown) {
    const waiting = Promise.withResolvers<void>();
    const { shell, logs } = recoverableShell({
      handlers: {
        async work(socket) {
          await waiting.promise;
          await emit(socket);
        },
      },
    });
    const ada = await shell.connect(HANDSHAKE);
    ada.emit("work");
    const recoveryAuth = recoveryAuthOf(ada);
    ada.leave();
    const goOn = async (): Promise<void> => {
      waiting.resolve();
      await shell.settle();
    };
    return { shell, log: logs[0]!, recoveryAuth, goOn };
  }

  it("are replayed, between those to its channels", async () => {
    const { shell, log, recoveryAuth, goOn } = await interrupted((socket) => socket.emit("result", 1));
    log.append({ event: "before", args: [] });
    await goOn();
    log.append({ event: "after", args: [] });
    const back = await shell.connect(HANDSHAKE, recoveryAuth);
    expect(back.socketId()).toBe(recoveryAuth.sid);
    expect(namesOf(back)).toEqual(["before", "result", "after"]);
    expect(back.heard("result")[0]![0]).toBe(1);
  });

  it("reach the socket that its client recovered meanwhile, at once and once", async () => {
    const { shell, recoveryAuth, goOn } = await interrupted((socket) => socket.emit("result", 1));
    const back = shell.open(HANDSHAKE);
    const connecting = back.connect(recoveryAuth);
    await vi.waitFor(() => expect(back.socketId()).toBe(recoveryAuth.sid));
    await goOn();
    expect(namesOf(await connecting)).toEqual(["result"]);
    const again = await shell.connect(HANDSHAKE, recoveryAuthOf(back));
    expect(namesOf(again)).toEqual([]);
  });

  it.each<[kind: string, emit: (socket: Socket) => unknown]>([
    ["volatile events", (socket) => socket.volatile.emit("result")],
    ["questions", (socket) => socket.emitWithAck("result").catch(() => {})],
  ])("are not replayed: %s", async (_kind, ask) => {
    const { shell, recoveryAuth, goOn } = await interrupted(ask);
    await goOn();
    const back = await shell.connect(HANDSHAKE, recoveryAuth);
    expect([back.socketId(), namesOf(back)]).toEqual([recoveryAuth.sid, []]);
  });
});

it("events of its own joining come after the missed ones: REC-4", async () => {
  class Announcing extends RecoverableProbe {
    override onChannelJoined = (channel: string, socket: Socket): void =>
      void this.to(channel).emit("joined", socket.id);
  }
  const log = new MemoryRecoveryLog("one");
  const shell = new FakeShell(() => ({
    "/": new Announcing(log, { handlers: { join: (socket) => socket.join("red") } }, []),
  }));
  const ada = await shell.connect(HANDSHAKE);
  ada.emit("join");
  const recoveryAuth = recoveryAuthOf(ada);
  ada.leave();
  log.append({ event: "missed", args: [], channels: ["red"] });
  const back = await shell.connect(HANDSHAKE, recoveryAuth);
  expect(back.packets[0]!.type).toBe(PacketType.CONNECT);
  expect(namesOf(back)).toEqual(["missed", "joined"]);
});

it("recovered stays true through sleep", async () => {
  const { shell } = recoverableShell({
    handlers: { look: (socket, ack) => ack(socket.recovered) },
  });
  const first = await shell.connect(HANDSHAKE);
  const back = await shell.connect(HANDSHAKE, recoveryAuthOf(first));
  expect(await back.ask("look")).toBe(true);
  shell.evict();
  expect(await back.ask("look")).toBe(true);
});

describe("a client that missed more than is replayed", () => {
  const missing = (bytes: number, of = 50_000): string[] =>
    Array.from({ length: Math.floor(bytes / of) }, () => "x".repeat(of - 100));

  it("connects afresh and is not marked as recovered: REC-3", async () => {
    const { shell, logs } = recoverableShell({});
    const ada = await shell.connect(HANDSHAKE);
    const recoveryAuth = recoveryAuthOf(ada);
    ada.leave();
    for (const text of missing(MISSED_BYTES_MAX)) logs[0]!.append({ event: "long", args: [text] });
    const back = await shell.connect(HANDSHAKE, recoveryAuth);
    expect(back.socketId()).toBe(recoveryAuth.sid);
    expect(namesOf(back)).toHaveLength(missing(MISSED_BYTES_MAX).length);
    back.leave();
    for (const text of missing(100_000)) logs[0]!.append({ event: "long", args: [text] });
    const fresh = await shell.connect(HANDSHAKE, recoveryAuth);
    expect(fresh.socketId()).not.toBe(recoveryAuth.sid);
    expect(namesOf(fresh)).toEqual([]);
    const later = await shell.connect(HANDSHAKE, { ...recoveryAuth, offset: `one.${logs[0]!.lastSeq.toString(36)}` });
    expect(later.socketId(), "not later either").not.toBe(recoveryAuth.sid);
  });
});

describe("a socket that was in more channels than its history holds", () => {
  const room = (): FakeShell =>
    recoverableShell({
      handlers: {
        tour(socket, count, name) {
          for (let at = 0; at < count; at++) {
            socket.join(`${at} ${name}`);
            this.emit("stop", at);
            socket.leave(`${at} ${name}`);
          }
        },
      },
    }).shell;
  const tours: Array<[count: number, name: string]> = [
    [LEFT_CHANNELS_MAX + 1, "short"],
    [20, "long".repeat(100)],
  ];

  it.each(tours)("recovers if it got all events of the forgotten channels (%i channels)", async (count, name) => {
    const shell = room();
    const ada = await shell.connect(HANDSHAKE);
    ada.emit("tour", count, name);
    ada.leave();
    expect((await shell.connect(HANDSHAKE, recoveryAuthOf(ada))).socketId()).toBe(ada.socketId());
    expect(shell.problems).toEqual([]);
  });

  it.each(tours)("connects afresh if its missed events are unknown (%i channels)", async (count, name) => {
    const shell = room();
    const ada = await shell.connect(HANDSHAKE);
    const recoveryAuth = recoveryAuthOf(ada);
    ada.emit("tour", count, name);
    ada.leave();
    expect((await shell.connect(HANDSHAKE, recoveryAuth)).socketId()).not.toBe(recoveryAuth.sid);
  });
});

it("data that cannot be cloned closes its session, and no other", async () => {
  const { shell, calls } = recoverableShell({ handlers: { spoil: (socket) => void (socket.data.run = () => {}) } });
  const [ada, ben] = [await shell.connect(HANDSHAKE), await shell.connect(HANDSHAKE)];
  ada.emit("spoil");
  expect([ada.closing?.code, ben.closing]).toEqual([4004, undefined]);
  expect(calls.filter((call) => call.startsWith("disconnect"))).toHaveLength(1);
  expect(shell.problems[0]!.problem).toBe("the state of a socket could not be stored");
});

describe("REC-3: a log that cannot be read", () => {
  class DamagedLog extends MemoryRecoveryLog {
    override since(): never {
      throw new Error("broadcast 1 cannot be read back");
    }
  }

  it("does not keep clients out: one that would recover connects afresh, and the error is reported", async () => {
    const log = new DamagedLog("one");
    const shell = new FakeShell(() => ({ "/": new RecoverableProbe(log, {}, []) }));
    const client = await shell.connect(HANDSHAKE);
    const recoveryAuth = recoveryAuthOf(client);
    client.leave();
    const back = await shell.connect(HANDSHAKE, recoveryAuth);
    expect(back.socketId()).not.toBe(recoveryAuth.sid);
    expect(back.closing).toBeUndefined();
    expect(shell.problems).toMatchObject([{ problem: "missed events could not be read" }]);
  });
});

describe("two namespaces cannot write one log", () => {
  const of = (log: MemoryRecoveryLog): RecoverableProbe => new RecoverableProbe(log, {}, []);
  const log = new MemoryRecoveryLog("one");
  it.each([
    ["given to both", log, log],
    ["made twice", log, new MemoryRecoveryLog("one")],
  ])("%s: a server of both does not start", (_how, a, b) => {
    const start = (): FakeShell => new FakeShell(() => ({ "/a": of(a), "/b": of(b) }));
    expect(start).toThrow("namespaces /a and /b share one recovery log");
  });

  it("of those made on demand the second is not entered, and the first stays", async () => {
    const shell = new FakeShell(() => ({}), { dynamic: [{ match: /.*/, create: () => of(log) }] });
    const [first, second] = [await shell.open().connect({}, "/a"), await shell.open().connect({}, "/b")];
    const lastFrames = [first, second].map(({ texts }) => texts.at(-1)!.slice(0, 5));
    expect(lastFrames, "SIO-14: refused with CONNECT_ERROR").toEqual(["40/a,", "44/b,"]);
    expect(shell.problems.map(({ error }) => String(error))).toEqual([
      "Error: namespaces /a and /b share one recovery log",
    ]);
    first.leave();
    const third = await shell.open().connect({}, "/b");
    expect(third.socketId("/b"), "and once the first one went it is free").toEqual(expect.any(String));
  });
});

it("a namespace that cannot be made again after sleep closes its own sessions, which may come back, and no others", async () => {
  let isBroken = false;
  const create = (): RecoverableProbe => {
    if (isBroken) throw new Error("a bug");
    return new RecoverableProbe(new MemoryRecoveryLog("one"), {}, []);
  };
  const shell = new FakeShell(() => ({ "/": new Probe({ handlers: { echo: (_socket, ack) => ack(1) } }, []) }), {
    dynamic: [{ match: /.*/, create }],
  });
  const unlucky = await shell.open().connect({}, "/a");
  const [both, other] = [await shell.connect(), await shell.connect()];
  await both.connect({}, "/a");
  isBroken = true;
  shell.evict();
  expect(other.call("echo").answer).toBe(1);
  expect(shell.problems[0]).toEqual({ problem: "the namespace /a could not be made again", error: new Error("a bug") });
  expect([unlucky, both, other].map(({ closing }) => closing)).toEqual([CLOSINGS.restart, CLOSINGS.restart, undefined]);
});
