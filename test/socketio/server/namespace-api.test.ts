// The server's API for applications: selections, acks, middleware, hooks.
import { PacketType } from "socket.io-parser";
import { describe, expect, it } from "vitest";

import { Namespace, type Handlers, type Refusal } from "../../../src/socketio/server/namespace.ts";
import type { Socket } from "../../../src/socketio/server/socket.ts";
import { bareServer, servedProbe } from "../../host/bare-server.ts";
import { FakeShell, START_MS, type Client } from "../../host/harness.ts";
import { Probe, type ProbeParts } from "../../host/probe.ts";

async function three(): Promise<{
  shell: FakeShell;
  namespace: Probe;
  clients: [Client, Client, Client];
  sockets: Socket[];
}> {
  const namespace = new Probe({}, []);
  const shell = new FakeShell(() => ({ "/": namespace }));
  const clients: [Client, Client, Client] = [await shell.connect(), await shell.connect(), await shell.connect()];
  return { shell, namespace, clients, sockets: namespace.fetchSockets() };
}

/** A client over long-polling that has got its CONNECT, and has no poll under way. */
function polled() {
  const { server, app: namespace, polls } = servedProbe();
  const session = server.open({ address: "192.0.2.1", query: {}, issued: START_MS }, "polling");
  server.poll(session);
  server.endPost(session, "40");
  server.poll(session);
  polls.length = 0;
  return { server, namespace, session, polls };
}

/** Answers the last event that asked for it. */
async function answer(shell: FakeShell, client: Client, text: string): Promise<void> {
  const asked = client.events().findLast(({ id }) => id !== undefined)!;
  client.sendPacket({ type: PacketType.ACK, nsp: "/", id: asked.id!, data: [text] });
  await shell.settle();
}

describe("selections", () => {
  it("fetchSockets, socketsJoin and socketsLeave, of all, of a room, of all but a room, and of one by its id", async () => {
    const { namespace, sockets } = await three();
    const [a, b, c] = sockets as [Socket, Socket, Socket];
    namespace.socketsJoin(["red", "all"]);
    namespace.in(a.id).socketsLeave("red");
    namespace.except("red").socketsJoin("blue");
    expect(namespace.fetchSockets().map(({ rooms }) => [...rooms])).toEqual([
      [a.id, "all", "blue"],
      [b.id, "red", "all"],
      [c.id, "red", "all"],
    ]);
    expect([...namespace.channels.keys()].sort()).toEqual(["all", "blue", "red"]);
  });

  it("disconnectSockets: out of the namespace, or out of the session", async () => {
    const { namespace, clients, sockets } = await three();
    namespace.to(sockets[0]!.id).disconnectSockets();
    namespace.to(sockets[1]!.id).disconnectSockets(true);
    expect(clients.map(({ frames }) => frames.at(-1) === "41")).toEqual([true, true, false]);
    expect(clients.map(({ closing }) => closing?.reason)).toEqual([undefined, "forced server close", undefined]);
    expect(namespace.fetchSockets()).toEqual([sockets[2]]);
    expect(sockets.map(({ connected }) => connected)).toEqual([false, false, true]);
  });

  it("volatile: a polling client receives it only while its poll waits", async () => {
    const { server, namespace, session, polls } = polled();
    const [socket] = namespace.fetchSockets();
    namespace.volatile.emit("v", "not ready");
    socket!.volatile.emit("v", "not ready either");
    server.poll(session);
    expect(polls).toEqual([]);
    namespace.volatile.emit("v", "ready");
    expect(polls).toEqual([['42["v","ready"]']]);
    namespace.emit("v", "kept");
    server.poll(session);
    expect(polls).toEqual([['42["v","ready"]'], ['42["v","kept"]']]);
  });

  it("volatile.emitWithAck: a polling client is asked only while its poll waits", async () => {
    const { server, namespace, session, polls } = polled();
    void namespace.volatile.emitWithAck("q", "not ready");
    server.poll(session);
    expect(polls).toEqual([]);
    const answers = namespace.volatile.emitWithAck("q", "ready");
    const [asked] = polls.flat();
    const [, id] = /^42(\d+)\["q","ready"\]$/.exec(asked!)!;
    server.endPost(session, `43${id}["yes"]`);
    expect(await answers).toEqual(["yes"]);
  });
});

describe("acks of many", () => {
  it("emitWithAck: every answer", async () => {
    const { shell, namespace, clients } = await three();
    const answers = namespace.emitWithAck("q", 1);
    for (const [i, client] of clients.entries()) await answer(shell, client, `a${i}`);
    expect(await answers).toEqual(["a0", "a1", "a2"]);
  });

  it("of one socket: the ack, the timeout, or its end", async () => {
    const { shell, sockets, clients } = await three();
    const ask = (): Promise<unknown> => sockets[0]!.timeout(500).emitWithAck("q").catch(String);
    const answered = ask();
    await answer(shell, clients[0], "yes");
    expect(await answered).toBe("yes");
    const late = ask();
    shell.advance(501);
    expect(await late).toBe("Error: operation has timed out");
    const givenUp = ask();
    clients[0].leave();
    expect(await givenUp).toBe("Error: socket has been disconnected");
    expect([clients[1].closing, shell.problems]).toEqual([undefined, []]);
  });

  it("timeout().emitWithAck: the error holds the answers that came", async () => {
    const { shell, namespace, clients } = await three();
    const answers = namespace.timeout(500).emitWithAck("q");
    await answer(shell, clients[1], "only me");
    clients[2].leave();
    shell.advance(501);
    await expect(answers).rejects.toMatchObject({ message: "operation has timed out", responses: ["only me"] });
  });

  it("without recipients: no answers, and no wait", async () => {
    const { namespace } = await three();
    expect(await namespace.to("nobody").timeout(500).emitWithAck("q")).toEqual([]);
  });

  it("fails at once, with the cause, if the event cannot be sent", async () => {
    const { namespace, clients } = await three();
    const tooMany = Array.from({ length: 11 }, (_, at) => new Uint8Array([at]));
    await expect(namespace.emitWithAck("q", tooMany)).rejects.toThrow("attachments");
    await expect(namespace.emitWithAck("q", () => {})).rejects.toThrow('"q": use emitWithAck for an ack');
    expect(clients.map(({ frames }) => frames.length)).toEqual([2, 2, 2]);
    namespace.onAnyOutgoing = () => {
      throw new Error("a mistake");
    };
    await expect(namespace.emitWithAck("q")).rejects.toThrow("a mistake");
  });

  it.each([0, -1, 10_001, Number.NaN])("a timeout of %s ms throws", async (ms) => {
    const { sockets } = await three();
    await expect(sockets[0]!.timeout(ms).emitWithAck("q")).rejects.toThrow(RangeError);
    await expect(sockets[0]!.broadcast.timeout(ms).emitWithAck("q")).rejects.toThrow(RangeError);
  });

  it("a short wait for acks keeps the object awake, a long one does not", async () => {
    const { shell, sockets, clients } = await three();
    sockets[0]!.ask("q", [], { handler: "h", timeoutMs: 3_600_000 });
    shell.advance(2000);
    expect(shell.canSleep).toBe(true);
    const answered = sockets[0]!.emitWithAck("q");
    expect([shell.quietMs, shell.canSleep]).toEqual([10_000, false]);
    await answer(shell, clients[0], "now");
    expect(await answered).toBe("now");
    shell.advance(2000);
    expect(shell.canSleep).toBe(true);
  });
});

describe("middleware", () => {
  type Answer = Refusal | void | Promise<Refusal | void>;
  const no = (message: string): Refusal => ({ accepted: false, message, data: { code: 1 } });
  const cases: Array<[what: string, steps: Array<() => Answer>, message: string | undefined]> = [
    ["none", [], undefined],
    ["sync, accepting", [() => {}], undefined],
    ["sync, refusing", [() => no("first"), () => no("second")], "first"],
    ["async, accepting", [() => Promise.resolve(), () => {}], undefined],
    ["async, refusing after a sync one", [() => {}, () => Promise.resolve(no("later"))], "later"],
  ];

  it.each(cases)("use(): %s", async (_what, steps, message) => {
    const seen: string[] = [];
    class Guarded extends Probe {
      override onStart(): void {
        for (const step of steps) this.use(step);
      }
    }
    const parts: ProbeParts = {
      authorize: () => (seen.push("authorize"), { accepted: true, data: {} }),
      onConnect: () => seen.push("onConnect"),
    };
    const client = await new FakeShell(() => ({ "/": new Guarded(parts, []) })).connect();
    const refused = `44{"message":"${message}","data":{"code":1}}`;
    expect(client.frames.at(-1)).toEqual(message === undefined ? expect.stringMatching(/^40/) : refused);
    expect(seen).toEqual(message === undefined ? ["authorize", "onConnect"] : []);
    expect(client.closing).toBeUndefined();
  });

  it("useEvents(): in order, before the handler; an error is sent to the client and ends the event", async () => {
    const seen: unknown[] = [];
    class Watched extends Probe {
      override onStart(): void {
        this.useEvents((_socket, event, args) => void seen.push(["first", event, ...args]));
        this.useEvents((_socket, _event, [text]) => (text === "bad" ? new Error("not that") : undefined));
        this.useEvents((_socket, event) => void seen.push(["last", event]));
      }
    }
    const parts: ProbeParts = { handlers: { echo: (socket, value) => void socket.emit("echoed", value) } };
    const client = await new FakeShell(() => ({ "/": new Watched(parts, []) })).connect();
    for (const text of ["good", "bad"]) client.emit("echo", text);
    expect(seen).toEqual([
      ["first", "echo", "good"],
      ["last", "echo"],
      ["first", "echo", "bad"],
    ]);
    expect(client.heard("echoed")).toEqual([["good"]]);
    expect(client.heard("error")).toEqual([[{ message: "not that" }]]);
  });

  it("runs once in each start of the object, that of the constructor as well as that of onStart", async () => {
    const seen: string[] = [];
    class Guarded extends Probe {
      constructor() {
        super({ handlers: { echo: () => void seen.push("handler") } }, []);
        this.use(() => void seen.push("use, constructor"));
        this.useEvents(() => void seen.push("useEvents, constructor"));
      }
      override onStart(): void {
        this.use(() => void seen.push("use, onStart"));
        this.useEvents(() => void seen.push("useEvents, onStart"));
      }
    }
    const table = { static: { "/": new Guarded() } };
    // As `erase` does it.
    bareServer({ table }).stop();
    const server = bareServer({ table });
    const session = server.open({ address: "192.0.2.1", query: {}, issued: START_MS }, "websocket");
    await server.receive(session, "40");
    await server.receive(session, '42["echo"]');
    expect(seen).toEqual([
      "use, constructor",
      "use, onStart",
      "useEvents, constructor",
      "useEvents, onStart",
      "handler",
    ]);
  });
});

describe("hooks", () => {
  class Curious extends Namespace {
    readonly handlers: Handlers = { echo: (socket, value) => void socket.emit("echoed", value) };
    readonly seen: string[] = [];
    override onAny(_socket: Socket, event: string, args: readonly unknown[]): void {
      this.seen.push(`any ${event} ${args.length}`);
    }
    override onAnyOutgoing(socket: Socket, event: string): void {
      this.seen.push(`out ${socket.id} ${event}`);
    }
    override onUnknownEvent(_socket: Socket, event: string): void {
      this.seen.push(`unknown ${event}`);
    }
    override onChannelCreated(channel: string): void {
      this.seen.push(`created ${channel}`);
    }
    override onChannelDeleted(channel: string): void {
      this.seen.push(`deleted ${channel}`);
    }
    override onChannelJoined(channel: string, { id }: Socket): void {
      this.seen.push(`joined ${channel} ${id}`);
    }
    override onChannelLeft(channel: string, { id }: Socket): void {
      this.seen.push(`left ${channel} ${id}`);
    }
    override onDisconnecting({ rooms }: Socket, reason: string): void {
      this.seen.push(`going ${[...rooms].join()} ${reason}`);
    }
    override onDisconnect({ id }: Socket): void {
      this.seen.push(`gone ${id}`);
    }
  }

  async function curious(): Promise<{ namespace: Curious; clients: [Client, Client]; ids: string[] }> {
    const namespace = new Curious();
    const shell = new FakeShell(() => ({ "/": namespace }));
    const clients: [Client, Client] = [await shell.connect(), await shell.connect()];
    return { namespace, clients, ids: namespace.fetchSockets().map(({ id }) => id) };
  }

  it("onAny, onUnknownEvent, onAnyOutgoing once per recipient", async () => {
    const { namespace, clients, ids } = await curious();
    clients[0].send('421["echo",1]', '42["what"]');
    namespace.emit("news");
    expect(namespace.seen).toEqual([
      "any echo 2",
      `out ${ids[0]} echoed`,
      "any what 0",
      "unknown what",
      `out ${ids[0]} news`,
      `out ${ids[1]} news`,
    ]);
  });

  it("channels are created with their first socket and dropped with their last", async () => {
    const { namespace, clients, ids } = await curious();
    const [a, b] = namespace.fetchSockets() as [Socket, Socket];
    a.join("red");
    a.join("red");
    b.join("red");
    a.leave("red");
    a.leave("red");
    clients[1].send("41");
    expect(namespace.seen).toEqual([
      "created red",
      `joined red ${ids[0]}`,
      `joined red ${ids[1]}`,
      `left red ${ids[0]}`,
      `going ${ids[1]},red client namespace disconnect`,
      `left red ${ids[1]}`,
      "deleted red",
      `gone ${ids[1]}`,
    ]);
  });
});
