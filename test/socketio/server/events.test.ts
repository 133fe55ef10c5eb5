// Events and acks, in text and in bytes, and failures of handlers.
import { describe, expect, it, vi } from "vitest";

import { ATTACHMENTS_MAX } from "../../../src/socketio/wire/socket-io.ts";
import { COUNT_WINDOW_MS } from "../../../src/socketio/engine/session-flood.ts";
import { HANDLE_EVENT, Namespace } from "../../../src/socketio/server/namespace.ts";
import type { Socket } from "../../../src/socketio/server/socket.ts";
import { FAILURES_LOGGED_MAX } from "../../../src/socketio/server/failures.ts";
import { FakeShell, OPTIONS } from "../../host/harness.ts";
import { MemoryRecoveryLog, RecoverableProbe } from "../../host/memory-recovery-log.ts";
import { probeShell, type AnyArgument, type Probe } from "../../host/probe.ts";

const bytesOf = (...values: number[]): Uint8Array<ArrayBuffer> => new Uint8Array(values);
const echo = (_socket: unknown, ...args: AnyArgument[]): void => args.at(-1)(...args.slice(0, -1));

describe("events", () => {
  it("reach their handler with all arguments, and without an ack there is none", async () => {
    const heard: unknown[][] = [];
    const { shell } = probeShell({ handlers: { tell: (_socket, ...args) => void heard.push(args) } });
    const client = await shell.connect();
    client.emit("tell", 1, "two", [3], { four: null }, true);
    client.emit("tell");
    expect(heard).toEqual([[1, "two", [3], { four: null }, true], []]);
  });

  it("reach only the socket to which they are emitted, in order", async () => {
    const { shell } = probeShell({
      handlers: {
        ask: (socket) => {
          socket.emit("one", 1);
          socket.emit("two", "\u{1F600}\u2028");
        },
      },
    });
    const [client, other] = [await shell.connect(), await shell.connect()];
    client.emit("ask");
    expect(client.frames.slice(-2)).toEqual(['42["one",1]', '42["two","\u{1F600}\u2028"]']);
    expect(other.heard("one")).toEqual([]);
  });

  it.each<[way: string, emit: (socket: Socket) => void]>([
    ["to one", (socket) => void socket.emit("told", 1, () => {})],
    ["to others", (socket) => void socket.broadcast.emit("told", 1, () => {})],
    ["that may be dropped", (socket) => void socket.volatile.emit("told", () => {})],
    ["for a long answer", (socket) => void socket.ask("told", [() => {}], { handler: "none", timeoutMs: 1 })],
  ])("with a callback are not emitted %s, and the error says why", async (_way, emit) => {
    const parts = { handlers: { tell: emit } };
    const recoverable = new RecoverableProbe(new MemoryRecoveryLog("one"), parts, []);
    for (const shell of [probeShell(parts).shell, new FakeShell(() => ({ "/": recoverable }))]) {
      const client = await shell.connect({ canRecover: true });
      client.emit("tell");
      expect(client.heard("told")).toEqual([]);
      expect(shell.problems.map(({ error }) => String(error))).toEqual([
        'TypeError: "told": use emitWithAck for an ack',
      ]);
    }
  });

  it("go to HANDLE_EVENT of a namespace that has it, known or not, behind the middleware", async () => {
    class Table extends Namespace {
      readonly heard: string[] = [];
      readonly handlers = { known: (): void => void this.heard.push("a handler") };
      override onStart(): void {
        this.useEvents((_socket, event) => (event === "barred" ? new Error("no") : undefined));
      }
      override [HANDLE_EVENT](_socket: Socket, event: string, args: readonly AnyArgument[]): void {
        this.heard.push(event);
        args.at(-1)("heard");
      }
    }
    const table = new Table();
    const client = await new FakeShell(() => ({ "/": table })).connect();
    client.emit("barred");
    const calls = ["known", "__proto__"].map((event) => client.call(event));
    expect(calls.map(({ answer }) => answer as unknown)).toEqual(["heard", "heard"]);
    expect(table.heard).toEqual(["known", "__proto__"]);
  });

  it("are not found on the prototype of the table of handlers", async () => {
    const { shell } = probeShell({ handlers: {} });
    const client = await shell.connect();
    for (const name of ["__proto__", "constructor", "toString", "valueOf"]) client.emit(name, {});
    expect(client.closing).toBeUndefined();
    expect(shell.problems).toEqual([]);
  });

  it("that a handler emits after an await are sent at once", async () => {
    const gate = Promise.withResolvers<void>();
    const { shell } = probeShell({
      handlers: {
        slow: async (socket, ack) => {
          await gate.promise;
          socket.emit("progress", 1);
          ack("done");
        },
      },
    });
    const client = await shell.connect();
    const call = client.call("slow");
    expect(call.acks).toEqual([]);
    gate.resolve();
    await shell.settle();
    expect(call.answer).toBe("done");
    expect(client.received("progress")).toEqual([1]);
  });

  it("and acks of a handler whose client is gone by then are dropped", async () => {
    const gate = Promise.withResolvers<void>();
    const { shell } = probeShell({
      handlers: {
        slow: async (socket, ack) => {
          await gate.promise;
          socket.emit("late");
          ack();
          socket.data = { late: true };
          socket.disconnect(true);
        },
      },
    });
    const client = await shell.connect();
    client.call("slow");
    client.leave();
    gate.resolve();
    await shell.settle();
    expect(client.received("late")).toEqual([]);
    expect(shell.problems).toEqual([]);
  });
});

describe("SIO-6: acks", () => {
  it.each([0, Number.MAX_SAFE_INTEGER])("carry the id %d of their event", async (id) => {
    const { shell } = probeShell({ handlers: { echo } });
    const client = await shell.connect();
    client.send(`42${id}["echo","x",null]`);
    expect(client.frames.at(-1)).toBe(`43${id}["x",null]`);
  });

  it("are sent once, however often the handler calls", async () => {
    const { shell } = probeShell({
      handlers: {
        twice: (_socket, ack) => {
          ack(1);
          ack(2);
        },
      },
    });
    const client = await shell.connect();
    expect(client.call("twice").acks).toEqual([[1]]);
  });
});

describe("binary events", () => {
  it("arrive with their bytes in place, and acks carry bytes back", async () => {
    const { shell } = probeShell({ handlers: { echo } });
    const client = await shell.connect();
    const call = client.call("echo", { name: "x", parts: [bytesOf(1, 2), { deep: bytesOf() }] }, bytesOf(255));
    expect(call.acks).toEqual([[{ name: "x", parts: [bytesOf(1, 2), { deep: bytesOf() }] }, bytesOf(255)]]);
  });

  it("SIO-8: a handler that emits one attachment more gets an error, and nothing is sent", async () => {
    const parts = Array.from({ length: ATTACHMENTS_MAX + 1 }, (_, i) => bytesOf(i));
    const { shell } = probeShell({ handlers: { ask: (socket) => void socket.emit("bin", parts) } });
    const client = await shell.connect();
    const { length } = client.frames;
    client.emit("ask");
    expect(shell.problems.map(({ error }) => String(error))).toEqual([
      expect.stringContaining("RangeError: a packet carries at most 10 attachments"),
    ]);
    expect(client.frames).toHaveLength(length);
  });

  it("may be interrupted by heartbeats", async () => {
    const { shell } = probeShell({ handlers: { echo } });
    const client = await shell.connect();
    client.send('451-3["echo",{"_placeholder":true,"num":0}]', "3", "6");
    client.send(bytesOf(5));
    expect(client.packets.at(-1)).toMatchObject({ id: 3, data: [bytesOf(5)] });
  });

  it("SIO-9: survive the sleep of their room half received", async () => {
    const { shell } = probeShell({ handlers: { echo } });
    const client = await shell.connect();
    const header = '453-3["echo",{"_placeholder":true,"num":1},{"_placeholder":true,"num":0}]';
    for (const frame of [header, bytesOf(5), bytesOf(6), bytesOf(7)]) {
      client.send(frame);
      shell.evict();
    }
    expect(client.packets.at(-1)).toMatchObject({ id: 3, data: [bytesOf(6), bytesOf(5)] });
  });

  it("SIO-9: end no session, however large its record is; those that do not fit are lost with the next sleep", async () => {
    const { shell } = probeShell({ handlers: { echo } });
    const client = await shell.connect();
    // Characters that take two bytes each in the record, though the frame is short enough.
    const header = `451-3["echo","${"x".repeat(8100)}\u65e5",{"_placeholder":true,"num":0}]`;
    client.send(header, bytesOf(5));
    expect(client.packets.at(-1)).toMatchObject({ id: 3 });
    client.send(header);
    shell.evict();
    expect([client.closing, shell.problems]).toEqual([undefined, []]);
    client.send(bytesOf(5));
    expect(client.closing).toMatchObject({ code: 1002, reason: "parse error" });
  });

  it("SIO-8: one attachment too many in an ask throws at once, and nothing waits for an ack", async () => {
    const mistakes: string[] = [];
    const parts = Array.from({ length: ATTACHMENTS_MAX + 1 }, () => bytesOf(1));
    const { shell } = probeShell({
      handlers: {
        await: (socket) => socket.emitWithAck("q", parts).then(undefined, (error) => void mistakes.push(String(error))),
        ask: (socket) => void socket.ask("q", [parts], { handler: "goOn", timeoutMs: 1000 }),
      },
    });
    const [client, other] = [await shell.connect(), await shell.connect()];
    client.emit("await");
    await shell.settle();
    expect(mistakes).toEqual([expect.stringContaining("RangeError: a packet carries at most 10 attachments")]);
    other.emit("ask");
    expect(shell.problems).toHaveLength(1);
    expect(shell.quietMs, "nothing is due but the next ping").toBe(OPTIONS.pingIntervalMs);
  });

  it("of several attachments are taken as long as each frame is within maxPayload", async () => {
    const { shell } = probeShell({ handlers: { size: (_socket, parts, ack) => ack(parts.length) } });
    const client = await shell.connect();
    const part = new Uint8Array(OPTIONS.maxPayloadBytes);
    expect(client.call("size", [part, part, part]).acks).toEqual([[3]]);
  });
});

describe("a handler that throws", () => {
  const bugs = {
    "at once": () => {
      throw new Error("bug: secret");
    },
    "after an await": async () => {
      await Promise.resolve();
      throw new Error("bug: secret");
    },
    "what is no Error": () => {
      // oxlint-disable-next-line typescript/only-throw-error -- an application may do so
      throw undefined;
    },
  };

  it.each(Object.entries(bugs))("%s is logged, gives no ack, and ends nothing: SIO-15", async (_when, bug) => {
    const { shell, calls } = probeShell({ handlers: { bug, echo } });
    const [client, other] = [await shell.connect(), await shell.connect()];
    const { length } = other.frames;
    const call = client.call("bug");
    await shell.settle();
    expect(client.closing).toBeUndefined();
    expect(call.acks).toEqual([]);
    expect(client.call("echo", 2).answer).toBe(2);
    expect(calls.filter((line) => line.startsWith("disconnect"))).toEqual([]);
    expect(JSON.stringify([client.frames, other.frames])).not.toContain("secret");
    expect(other.frames).toHaveLength(length);
    expect(other.call("echo", 1).answer).toBe(1);
    expect(shell.problems).toHaveLength(1);
  });

  it("again and again, as a client makes it, stands in the log ten times in ten seconds", async () => {
    const { shell } = probeShell({ handlers: { bug: bugs["at once"], echo } });
    const [client, other] = [await shell.connect(), await shell.connect()];
    for (let at = 0; at < 1000; at++) client.emit("bug");
    expect(shell.problems).toHaveLength(FAILURES_LOGGED_MAX);
    other.emit("bug");
    expect(shell.problems, "and hides no other client's").toHaveLength(FAILURES_LOGGED_MAX + 1);
    shell.advance(COUNT_WINDOW_MS);
    client.emit("bug");
    expect(shell.problems).toHaveLength(FAILURES_LOGGED_MAX + 2);
    expect(client.call("echo", 1).answer).toBe(1);
  });

  it.each(Object.entries(bugs))("in onConnect, %s, disconnects the new socket only, for good", async (_when, bug) => {
    let isBroken = false;
    const { shell } = probeShell({ onConnect: () => (isBroken ? bug() : undefined), handlers: { echo } });
    const other = await shell.connect();
    isBroken = true;
    const client = await shell.connect();
    await shell.settle();
    expect(client.frames.at(-1), "a stock client stays away then").toBe("41");
    expect(client.closing).toBeUndefined();
    expect(other.call("echo", 1).answer).toBe(1);
    expect(shell.problems).toHaveLength(1);
  });

  it.each(Object.entries(bugs))("in onDisconnect, %s, affects no session", async (_when, bug) => {
    const { shell } = probeShell({ onDisconnect: bug, handlers: { echo } });
    const [client, other] = [await shell.connect(), await shell.connect()];
    client.leave();
    await vi.waitFor(() => expect(shell.problems).toHaveLength(1));
    expect(other.call("echo", 1).answer).toBe(1);
    expect(shell.problems).toHaveLength(1);
  });

  it("in onRestore ends that session only, and the room wakes all the same", async () => {
    const { shell } = probeShell({
      onConnect: (socket) => (socket.data = { isBroken: socket.handshake.query["broken"] === "1" }),
      onRestore: (socket) => {
        if (socket.peek()["isBroken"]) throw new Error("bug");
      },
      handlers: { echo },
    });
    const broken = await shell.connect({ query: { broken: "1" } });
    const other = await shell.connect();
    expect(() => shell.evict()).not.toThrow();
    expect(broken.closing?.code).toBe(1011);
    expect(other.call("echo", 1).answer).toBe(1);
  });
});

describe("a reserved name is no event's name: SIO-7", () => {
  const ways: Array<[way: string, emit: (app: Probe, socket: Socket) => unknown]> = [
    ["socket.emit", (_app, socket) => socket.emit("disconnect", 1)],
    ["socket.volatile.emit", (_app, socket) => socket.volatile.emit("disconnect", 1)],
    ["emitWithAck", (_app, socket) => socket.emitWithAck("disconnect", 1)],
    ["socket.ask", (_app, socket) => socket.ask("disconnect", [], { handler: "none", timeoutMs: 1000 })],
    ["a broadcast", (app) => app.emit("disconnect", 1)],
    ["emitWithAck of a broadcast", (app) => app.emitWithAck("disconnect", 1)],
    ["emitWithAck of a broadcast that nobody hears", (app) => app.to("nobody").emitWithAck("disconnect", 1)],
    ["a broadcast that nobody hears", (app) => app.to("nobody").emit("disconnect", 1)],
  ];

  it.each(ways)("%s throws, and no client gets anything", async (_way, emit) => {
    const mistakes: string[] = [];
    const { shell } = probeShell({
      handlers: {
        async go(socket) {
          try {
            await emit(this, socket);
          } catch (error) {
            mistakes.push(String(error));
          }
        },
      },
    });
    const client = await shell.connect();
    const before = client.frames.length;
    client.emit("go");
    await shell.settle();
    expect(mistakes).toEqual(['RangeError: "disconnect" is a reserved event name']);
    expect(client.frames).toHaveLength(before);
  });
});
