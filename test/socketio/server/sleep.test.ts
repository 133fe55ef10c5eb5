// The sleep of a room: only the records of its sessions survive.
import { describe, expect, it } from "vitest";

import type { AuthorizeResult } from "../../../src/socketio/server/namespace.ts";
import { FakeShell, RECORD_BYTES_MAX } from "../../host/harness.ts";
import { Probe, probeShell } from "../../host/probe.ts";

const ADA = { user: "ada", name: "Ada", role: "member" } as const;

const ownData = (): AuthorizeResult<object> => ({ accepted: true, data: {} });

describe("after sleep", () => {
  it("onConnect is not called again, onRestore once for each socket", async () => {
    const { shell, calls } = probeShell();
    const clients = [await shell.connect(), await shell.connect()];
    const ids = clients.map((client) => client.socketId());
    calls.length = 0;
    shell.evict();
    expect(calls).toEqual(ids.map((id) => `restore ${id}`));
    shell.evict();
    expect(calls).toEqual([...ids, ...ids].map((id) => `restore ${id}`));
  });

  it("nothing is sent", async () => {
    const { shell } = probeShell();
    const client = await shell.connect();
    const { length } = client.frames;
    shell.evict();
    shell.advance(1000);
    expect(client.frames).toHaveLength(length);
  });

  it("a socket has its id, data, channels and handshake", async () => {
    const look = (socket: { id: string; data: unknown; rooms: ReadonlySet<string>; handshake: unknown }): unknown[] => [
      socket.id,
      socket.data,
      [...socket.rooms],
      socket.handshake,
    ];
    const { shell } = probeShell({
      authorize: () => ({ accepted: true, data: { at: new Date(0), tags: new Set(["x"]), bytes: new Uint8Array(3) } }),
      handlers: {
        look: (socket, ack) => ack(JSON.stringify(look(socket))),
        join: (socket, channel) => socket.join(channel),
      },
    });
    const client = await shell.connect({ query: { q: "\u{1F600}" }, identity: ADA });
    client.emit("join", "red");
    const before = client.call("look").answer;
    shell.evict();
    expect(client.call("look").answer).toBe(before);
  });

  it("socket.data is as it was last changed, in place or replaced", async () => {
    const { shell } = probeShell({
      authorize: ownData,
      handlers: {
        add: (socket) => (socket.data.count = (socket.data.count ?? 0) + 1),
        set: (socket, data) => (socket.data = data),
        get: (socket, ack) => ack(socket.peek()),
      },
    });
    const client = await shell.connect();
    client.emit("add");
    client.emit("add");
    shell.evict();
    expect(client.call("get").answer).toEqual({ count: 2 });
    client.emit("set", { other: true });
    shell.evict();
    expect(client.call("get").answer).toEqual({ other: true });
  });

  it("socket.data is as onConnect, or a handler of another's, changed it after an await", async () => {
    const { shell } = probeShell({
      authorize: ownData,
      onConnect: async (socket) => {
        await Promise.resolve();
        socket.data.score = 1;
      },
      handlers: {
        async hit(this: Probe, _socket, other) {
          await Promise.resolve();
          this.sockets.get(other)!.data.score++;
        },
        get: (socket, ack) => ack(socket.peek()),
      },
    });
    const [client, other] = [await shell.connect(), await shell.connect()];
    shell.evict();
    expect(other.call("get").answer).toEqual({ score: 1 });
    client.emit("hit", other.socketId());
    await shell.settle();
    shell.evict();
    expect(other.call("get").answer).toEqual({ score: 2 });
  });

  it("channels are the same, and no hook is called for them", async () => {
    class Watched extends Probe {
      override onChannelCreated = (channel: string): void => void calls.push(`created ${channel}`);
      override onChannelJoined = (channel: string): void => void calls.push(`joined ${channel}`);
      override onChannelLeft = (channel: string): void => void calls.push(`left ${channel}`);
      override onChannelDeleted = (channel: string): void => void calls.push(`deleted ${channel}`);
    }
    const calls: string[] = [];
    const shell = new FakeShell(() => ({ "/": new Watched({ onConnect: (socket) => socket.join("red") }, []) }));
    const [client, other] = [await shell.connect(), await shell.connect()];
    expect(calls.splice(0)).toEqual(["created red", "joined red", "joined red"]);
    shell.evict();
    expect(calls).toEqual([]);
    client.leave();
    other.leave();
    expect(calls).toEqual(["left red", "left red", "deleted red"]);
  });

  it("onWake is called when all sockets are restored; sockets that are missing then are gone", async () => {
    const there: number[] = [];
    class Awake extends Probe {
      override onWake = (): void => void there.push(this.sockets.size);
    }
    const shell = new FakeShell(() => ({ "/": new Awake({}, []) }));
    await shell.connect();
    await shell.connect();
    shell.evict();
    shell.crash();
    expect(there).toEqual([0, 2, 0]);
  });

  it("all namespaces of a session are there, and one that was left is not", async () => {
    const calls: string[] = [];
    const shell = new FakeShell(() => ({
      "/": new Probe({}, calls),
      "/a": new Probe({}, calls),
      "/b": new Probe({}, calls),
    }));
    const client = await shell.connect();
    await client.connect(undefined, "/a");
    await client.connect(undefined, "/b");
    client.send("41/a,");
    calls.length = 0;
    shell.evict();
    expect(calls).toEqual([`restore ${client.socketId()}`, `restore ${client.socketId("/b")}`]);
    client.send('42/a,["x"]');
    expect(client.closing?.code).toBe(1002);
  });
});

describe("socket.data", () => {
  it("belongs to one socket if the namespace gives none", async () => {
    const { shell } = probeShell({
      handlers: {
        set: (socket, value) => (socket.data.value = value),
        get: (socket, ack) => ack(socket.peek()["value"] ?? "nothing"),
      },
    });
    const [client, other] = [await shell.connect(), await shell.connect()];
    client.emit("set", "secret");
    expect(other.call("get").answer).toBe("nothing");
  });

  it("that does not fit its record ends its session only", async () => {
    const { shell } = probeShell({
      handlers: { set: (socket, data) => (socket.data = data), get: (_s, ack) => ack(1) },
    });
    const [client, other] = [await shell.connect(), await shell.connect()];
    client.emit("set", { text: "x".repeat(RECORD_BYTES_MAX / 2) });
    expect(client.closing).toBeUndefined();
    client.emit("set", { text: "x".repeat(RECORD_BYTES_MAX) });
    // A stock client stays away: it would come back to the same mistake of the application.
    expect([client.frames.at(-1), client.closing?.code]).toEqual(["41", 4004]);
    expect(other.call("get").answer).toBe(1);
  });
});
