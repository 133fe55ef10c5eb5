// The server's API for applications: selections, acks, middleware, hooks.
import { describe, expect, it } from "vitest";
import { type Refusal, type AuthorizeResult } from "../../../src/socketio/server/namespace.ts";
import type { Socket } from "../../../src/socketio/server/socket.ts";
import { Line, Shell, Plain, plainShell, three } from "../../host/plain-server.ts";

describe("selections", () => {
  it("fetchSockets, socketsJoin, socketsLeave, to, in, except, a socket's own id", async () => {
    const { namespace, lines, sockets } = await three();
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
    const selections: Array<[string, { emit(event: string, ...args: unknown[]): true }]> = [
      ["111", namespace],
      ["011", namespace.to("red")],
      ["111", namespace.to("red").to(a.id)],
      ["011", namespace.in(["red", "all"]).except("blue")],
      ["001", namespace.to("all").except([a.id, b.id])],
      ["001", b.to("red")],
      ["101", b.broadcast],
      ["000", a.except("red")],
      ["010", b],
      ["000", namespace.to("nobody")],
      ["111", namespace.local],
      ["111", namespace.compress(true)],
      ["101", b.local],
      ["010", b.compress(false)],
      ["010", b.volatile],
      ["101", b.volatile.broadcast],
      ["001", b.volatile.to("red")],
      ["000", a.volatile.except("red")],
    ];
    for (const [, selection] of selections) selection.emit("e", 1);
    const counts = lines.map((line) => line.heard("e").length);
    expect(counts).toEqual([0, 1, 2].map((at) => selections.filter(([who]) => who[at] === "1").length));
  });

  it("disconnectSockets: out of the namespace, or out of the session", async () => {
    const { namespace, lines, sockets } = await three();
    namespace.to(sockets[0]!.id).disconnectSockets();
    namespace.to(sockets[1]!.id).disconnectSockets(true);
    expect(lines.map(({ frames }) => frames.at(-1) === "41")).toEqual([true, true, false]);
    expect(lines.map(({ closing }) => closing)).toEqual([undefined, "forced server close", undefined]);
    expect(namespace.fetchSockets()).toEqual([sockets[2]]);
    expect(sockets.map(({ connected }) => connected)).toEqual([false, false, true]);
  });

  it("volatile: a polling client receives it only while its poll waits", async () => {
    const { shell, namespace } = plainShell();
    const line = shell.open("polling");
    shell.server.poll(line.session);
    await shell.send(line, "40");
    shell.server.poll(line.session);
    const [socket] = namespace.fetchSockets();
    namespace.volatile.emit("v", "not ready");
    socket!.volatile.emit("v", "not ready either");
    shell.server.poll(line.session);
    expect(line.heard("v")).toEqual([]);
    namespace.volatile.emit("v", "ready");
    expect(line.heard("v")).toEqual([["ready"]]);
    namespace.emit("v", "kept");
    shell.server.poll(line.session);
    expect(line.heard("v")).toEqual([["ready"], ["kept"]]);
  });
});

describe("acks of many", () => {
  it("emitWithAck: every answer", async () => {
    const { shell, namespace, lines } = await three();
    const answers = namespace.emitWithAck("q", 1);
    for (const [i, line] of lines.entries()) await shell.send(line, `43${line.asked}["a${i}"]`);
    expect(await answers).toEqual(["a0", "a1", "a2"]);
  });

  it("timeout().emitWithAck: the error holds the answers that came", async () => {
    const { shell, namespace, lines } = await three();
    const answers = namespace.timeout(500).emitWithAck("q");
    await shell.send(lines[1], `43${lines[1].asked}["only me"]`);
    shell.leave(lines[2]);
    shell.advance(501);
    await expect(answers).rejects.toMatchObject({ message: "operation has timed out", responses: ["only me"] });
  });

  it("without recipients: no answers, and no wait", async () => {
    const { namespace } = plainShell();
    expect(await namespace.timeout(500).emitWithAck("q")).toEqual([]);
  });

  it.each([0, -1, 10_001, Number.NaN])("a timeout of %s ms throws", async (ms) => {
    const { sockets } = await three();
    await expect(sockets[0]!.timeout(ms).emitWithAck("q")).rejects.toThrow(RangeError);
    await expect(sockets[0]!.broadcast.timeout(ms).emitWithAck("q")).rejects.toThrow(RangeError);
  });

  it("a short wait for acks keeps the object awake, a long one does not", async () => {
    const { shell, sockets, lines } = await three();
    sockets[0]!.ask("q", [], { handler: "h", timeoutMs: 3_600_000 });
    expect(shell.server.deadlines.nextAwake()).toBeUndefined();
    const answer = sockets[0]!.emitWithAck("q");
    expect(shell.server.deadlines.nextAwake()).toBe(shell.nowMs + 10_000);
    await shell.send(lines[0], `43${lines[0].asked}["now"]`);
    expect(await answer).toBe("now");
    expect(shell.server.deadlines.nextAwake()).toBeUndefined();
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
    class Guarded extends Plain {
      override onStart(): void {
        for (const step of steps) this.use(step);
      }
      override authorize(): AuthorizeResult<object> {
        seen.push("authorize");
        return { accepted: true, data: {} };
      }
      override onConnect(): void {
        seen.push("onConnect");
      }
    }
    const shell = new Shell(() => ({ static: { "/": new Guarded() } }));
    const line = await shell.connect();
    const refused = `44{"message":"${message}","data":{"code":1}}`;
    expect(line.frames.at(-1)).toEqual(message === undefined ? expect.stringMatching(/^40/) : refused);
    expect(seen).toEqual(message === undefined ? ["authorize", "onConnect"] : []);
    expect(line.closing).toBeUndefined();
  });

  it("SIO-14: use(): a middleware that throws refuses that CONNECT, and no other", async () => {
    class Broken extends Plain {
      override onStart(): void {
        this.use(({ auth }) => {
          if (auth["bad"]) throw new Error("a bug");
        });
      }
    }
    const shell = new Shell(() => ({ static: { "/": new Broken() } }));
    const [good, bad] = [await shell.connect(), shell.open()];
    await shell.send(bad, '40{"bad":true}');
    expect(bad.frames.at(-1)).toBe('44{"message":"Internal server error","data":{"code":"INTERNAL"}}');
    expect([good.closing, bad.closing]).toEqual([undefined, undefined]);
    expect(shell.problems).toHaveLength(1);
  });

  it("useEvents(): in order, before the handler; an error is sent to the client and ends the event", async () => {
    const seen: unknown[] = [];
    class Watched extends Plain {
      override onStart(): void {
        this.useEvents((_socket, event, args) => void seen.push(["first", event, ...args]));
        this.useEvents((_socket, _event, [text]) => (text === "bad" ? new Error("not that") : undefined));
        this.useEvents((_socket, event) => void seen.push(["last", event]));
      }
    }
    const shell = new Shell(() => ({ static: { "/": new Watched() } }));
    const line = await shell.connect();
    await shell.send(line, '42["echo","good"]');
    await shell.send(line, '42["echo","bad"]');
    expect(seen).toEqual([
      ["first", "echo", "good"],
      ["last", "echo"],
      ["first", "echo", "bad"],
    ]);
    expect(line.heard("echoed")).toEqual([["good"]]);
    expect(line.heard("error")).toEqual([[{ message: "not that" }]]);
  });
});

describe("hooks", () => {
  class Curious extends Plain {
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

  async function curious(): Promise<{ shell: Shell; namespace: Curious; lines: [Line, Line]; ids: string[] }> {
    const namespace = new Curious();
    const shell = new Shell(() => ({ static: { "/": namespace } }));
    const lines: [Line, Line] = [await shell.connect(), await shell.connect()];
    return { shell, namespace, lines, ids: namespace.fetchSockets().map(({ id }) => id) };
  }

  it("onAny, onUnknownEvent, onAnyOutgoing once per recipient", async () => {
    const { shell, namespace, lines, ids } = await curious();
    await shell.send(lines[0], '421["echo",1]');
    await shell.send(lines[0], '42["what"]');
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
    const { shell, namespace, lines, ids } = await curious();
    const [a, b] = namespace.fetchSockets() as [Socket, Socket];
    a.join("red");
    a.join("red");
    b.join("red");
    a.leave("red");
    a.leave("red");
    await shell.send(lines[1], "41");
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
