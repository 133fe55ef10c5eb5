// What a recovering socket gets back of itself, whatever kind of plain data it keeps, and whoever else it was.
import { PacketType } from "socket.io-parser";
import { describe, expect, it } from "vitest";

import type { RecoveryLog, RememberedSocket } from "../../src/socketio/recovery.ts";
import { FakeShell, type Client } from "./harness.ts";
import { Probe, type AnyArgument, type ProbeParts } from "./probe.ts";

/** A log in memory that outlives every sleep. */
class MemoryLog implements RecoveryLog {
  readonly epoch: string;
  readonly key = "a key";
  lastSeq = 0;
  /** How often something was written, and what. */
  writes = 0;
  readonly #sockets = new Map<string, RememberedSocket>();

  constructor(epoch: string) {
    this.epoch = epoch;
  }

  since(): [] {
    return [];
  }

  remember(id: string, socket: RememberedSocket): void {
    this.writes++;
    this.#sockets.set(id, structuredClone(socket));
  }

  recall(id: string): RememberedSocket | undefined {
    return structuredClone(this.#sockets.get(id));
  }
}

class Recoverable extends Probe {
  override readonly recovery: { log: RecoveryLog; windowMs: number };
  constructor(log: RecoveryLog, parts: ProbeParts, calls: string[]) {
    super(parts, calls);
    this.recovery = { log, windowMs: 60_000 };
  }
}

function recoverableShell(parts: ProbeParts): { shell: FakeShell; logs: MemoryLog[]; calls: string[] } {
  const calls: string[] = [];
  const logs = [new MemoryLog("one"), new MemoryLog("two")];
  const shell = new FakeShell(() => ({
    "/": new Recoverable(logs[0]!, parts, calls),
    "/b": new Recoverable(logs[1]!, parts, calls),
  }));
  return { shell, logs, calls };
}

const HANDSHAKE = { canRecover: true };

/** What brings a client back into that namespace. */
function ticketOf(client: Client, nsp = "/"): { sid: string; pid: string; offset: string } {
  const here = client.packets.filter((packet) => packet.nsp === nsp && packet.id === undefined);
  const { data } = here.find(({ type }) => type === PacketType.CONNECT)! as AnyArgument;
  return { ...data, offset: here.findLast(({ type }) => type === PacketType.EVENT)!.data.at(-1) };
}

describe("socket.data of one whose going was not noticed is as it was last changed", () => {
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
    const ticket = ticketOf(client);
    const back = await shell.connect(HANDSHAKE, ticket);
    expect([back.socketId(), client.closing?.code]).toEqual([ticket.sid, 4005]);
    back.emit("look");
    expect(kept).toStrictEqual(expected);
    expect(shell.reports).toEqual([]);
  });

  it("and is written only where it changed", async () => {
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

it("a session that comes back unnoticed recovers all its namespaces, and each left once: REC-4", async () => {
  const { shell, calls } = recoverableShell({});
  const client = await shell.connect(HANDSHAKE);
  await client.connect(undefined, "/b");
  const tickets = [ticketOf(client), ticketOf(client, "/b")];
  calls.length = 0;
  const back = await shell.connect(HANDSHAKE, tickets[0]);
  await back.connect(tickets[1], "/b");
  const ids = tickets.map(({ sid }) => sid);
  expect([back.socketId(), back.socketId("/b")]).toEqual(ids);
  expect(calls).toEqual([...ids.map((id) => `disconnect ${id}: transport close`), ...ids.map((id) => `connect ${id}`)]);
});

it("what an ask's end notes in socket.data comes back with the socket, which is not asked again", async () => {
  const { shell } = recoverableShell({
    handlers: { ask: (socket) => void socket.ask("q", [], { handler: "goOn", data: "this", timeoutMs: 1000 }) },
    continuations: { goOn: (socket, { kind }, data) => (socket.data.open = [kind, data]) },
    onConnect: (socket) => socket.emit("data", socket.peek(), socket.recovered, socket.asks.length),
  });
  const client = await shell.connect(HANDSHAKE);
  client.emit("ask");
  const ticket = ticketOf(client);
  client.leave();
  const back = await shell.connect(HANDSHAKE, ticket);
  expect(back.heard("data")[0]!.slice(0, 3)).toEqual([{ open: ["disconnected", "this"] }, true, 0]);
});
