// Frames between a room and a client with extensions: EXT-2 to EXT-4.
import { describe, expect, it } from "vitest";

import { JOINED_CHARS_MAX, joinPackets } from "../../../src/socketio/wire/engine-io.ts";
import { EXTENDED_PATIENCE_MS_MIN, REAP_INTERVAL_MS } from "../../../src/socketio/engine/liveness.ts";
import { ChatRoom, identityOf, UNLIMITED } from "../../host/chat-room.ts";
import { OPTIONS, type Client } from "../../host/harness.ts";
import { probeShell } from "../../host/probe.ts";

const EXTENDED = { isExtended: true };

const textFrames = (client: Client): string[] => client.frames.filter((frame) => typeof frame === "string");

describe("EXT-2: a frame carries several packets", () => {
  it("all packets of a batch, and after them the sender's answer", async () => {
    const room = new ChatRoom({ messageRate: UNLIMITED });
    const join = async (user: string): Promise<Client> =>
      room.shell.open({ identity: identityOf(user) }, EXTENDED).connect();
    const [ada, ben] = [await join("ada"), await join("ben")];
    room.quiet();
    ada.emit("chat-message", { content: "at once" });
    for (const client of [ada, ben]) client.frames.length = 0;
    const calls = ["one", "two", "three"].map((content) => ada.call("chat-message", { content }));
    room.quiet();
    expect(ben.frames).toHaveLength(1);
    expect(
      textFrames(ben)[0]!
        .split("\x1e")
        .map((packet) => packet.slice(0, 16)),
    ).toEqual(Array.from({ length: 3 }, () => '42["chat-message'));
    expect(ada.frames).toHaveLength(1);
    expect(textFrames(ada)[0]).toMatch(
      new RegExp(`^${textFrames(ben)[0]!.replaceAll(/[[\]{}|.*+?^$()\\]/g, "\\$&")}\x1e43`),
    );
    expect(calls.map(({ answer }) => answer.seq)).toEqual([2, 3, 4]);
  });

  it("packets of a client are read in their order", async () => {
    const { shell } = probeShell({ handlers: { say: (socket, text) => void socket.emit("said", text) } });
    const client = await shell.connect({}, undefined, EXTENDED);
    client.send('42["say","a"]\x1e42["say","b"]\x1e42["say","c"]');
    expect(client.heard("said")).toEqual([["a"], ["b"], ["c"]]);
  });

  it("bytes travel by themselves, in their place", async () => {
    const { shell } = probeShell({
      onConnect: (socket) => {
        socket.emit("before");
        socket.emit("bytes", new Uint8Array([1, 2, 3]));
        socket.emit("after");
      },
    });
    const client = await shell.connect({}, undefined, EXTENDED);
    const shapes = client.frames.map((frame) => (typeof frame === "string" ? frame.replaceAll("\x1e", " ") : frame));
    expect(shapes).toEqual([
      expect.stringMatching(/^0/),
      expect.stringMatching(/^40\{.*\} 42\["before"\] 451-\["bytes",.*\]$/),
      new Uint8Array([1, 2, 3]),
      '42["after"]',
    ]);
  });

  it("frames that were queued before a session is closed arrive before the closing", async () => {
    const { shell } = probeShell({
      handlers: {
        bye: (socket) => {
          socket.emit("last", "words");
          socket.disconnect(true);
        },
      },
    });
    const client = await shell.connect({}, undefined, EXTENDED);
    client.emit("bye");
    expect(client.heard("last")).toEqual([["words"]]);
    expect(client.frames.at(-1)).toBe('42["last","words"]\x1e41');
    expect(client.closing?.code).toBe(4003);
  });

  it("packets after one that ends the session are dropped", async () => {
    const said: string[] = [];
    const { shell } = probeShell({ handlers: { say: (_socket, text) => void said.push(text as string) } });
    const client = await shell.connect({}, undefined, EXTENDED);
    client.send('42["say","a"]\x1e9\x1e42["say","b"]');
    expect([client.closing?.code, said]).toEqual([1002, ["a"]]);
  });

  it.each(["", "\x1e", '42["say","a"]\x1e', '\x1e42["say","a"]'])(
    "an empty packet closes the session: %j",
    async (frame) => {
      const { shell } = probeShell({ handlers: { say: () => undefined } });
      const client = await shell.connect({}, undefined, EXTENDED);
      client.send(frame);
      expect(client.closing?.code).toBe(1002);
    },
  );

  it("EIO-6: maxPayload bounds the whole frame", async () => {
    const { shell } = probeShell({ handlers: { say: () => undefined } });
    const packet = `42${JSON.stringify(["say", "x".repeat(1000)])}`;
    const count = Math.floor((OPTIONS.maxPayloadBytes + 1) / (packet.length + 1));
    const [within, beyond] = [
      await shell.connect({}, undefined, EXTENDED),
      await shell.connect({}, undefined, EXTENDED),
    ];
    within.send(Array.from({ length: count }, () => packet).join("\x1e"));
    expect(within.closing).toBeUndefined();
    beyond.send(Array.from({ length: count + 1 }, () => packet).join("\x1e"));
    expect(beyond.closing?.code).toBe(1009);
  });

  it("a stock client may not send one, and never gets one", async () => {
    const { shell } = probeShell({ handlers: { say: (socket, text) => void socket.emit("said", text) } });
    const client = await shell.connect();
    client.send('42["say","a"]\x1e42["say","b"]');
    expect(client.closing?.code).toBe(1002);
  });

  it("joining splits between packets at the limit and loses none", () => {
    const half = "4".padEnd(JOINED_CHARS_MAX / 2, "x");
    expect(joinPackets([half, half]).map(({ length }) => length)).toEqual([half.length, half.length]);
    const fitting = half.slice(1);
    expect(joinPackets([half, fitting]).map(({ length }) => length)).toEqual([JOINED_CHARS_MAX]);
    const bytes = new Uint8Array([1]);
    expect(joinPackets(["a", "b", bytes, bytes, "c"])).toEqual(["a\x1eb", bytes, bytes, "c"]);
    expect(joinPackets([])).toEqual([]);
  });
});

describe("EXT-3: the client keeps the heartbeat", () => {
  it("is never pinged; the only deadline looks for dead sessions twice an hour", async () => {
    const { shell } = probeShell();
    const client = await shell.connect({}, undefined, EXTENDED);
    shell.advance(OPTIONS.connectTimeoutMs);
    for (let beats = 0; beats < 10; beats++) {
      expect(shell.quietMs).toBeGreaterThanOrEqual(REAP_INTERVAL_MS / 2);
      expect(shell.quietMs).toBeLessThanOrEqual(1.5 * REAP_INTERVAL_MS);
      shell.advance(shell.quietMs);
      shell.evict();
    }
    expect([client.pings, client.closing]).toEqual([0, undefined]);
  });

  it("those moments do not move when the room wakes", async () => {
    const { shell } = probeShell({ handlers: { say: () => undefined } });
    const client = await shell.connect({}, undefined, EXTENDED);
    shell.advance(20_000);
    const dueMs = shell.nowMs + shell.quietMs;
    for (let i = 0; i < 10; i++) {
      shell.advance(30_000);
      shell.evict();
      client.emit("say");
      expect(shell.nowMs + shell.quietMs).toBe(dueMs);
    }
  });

  it("no deadline is set after the last session", async () => {
    const { shell } = probeShell();
    const client = await shell.connect({}, undefined, EXTENDED);
    client.leave();
    expect(shell.quietMs).toBe(Infinity);
  });

  it("stock clients in the same room are pinged as before", async () => {
    const { shell } = probeShell();
    const [extended, stock] = [await shell.connect({}, undefined, EXTENDED), await shell.connect()];
    shell.advance(OPTIONS.pingIntervalMs * 10);
    expect([extended.pings, stock.pings]).toEqual([0, 10]);
  });
});

describe("EXT-4: a client that gives no sign of life", () => {
  const silent = async (): Promise<ReturnType<typeof probeShell> & { client: Client }> => {
    const probe = probeShell({ handlers: { say: () => undefined } });
    const client = await probe.shell.connect({}, undefined, EXTENDED);
    client.answersPings = false;
    return { ...probe, client };
  };

  it("is closed when the room looks next", async () => {
    const { shell, client, calls } = await silent();
    shell.advance(1.5 * REAP_INTERVAL_MS);
    expect(client.closing?.code).toBe(4002);
    expect(calls.at(-1)).toContain("ping timeout");
    expect(shell.quietMs).toBe(Infinity);
  });

  it("is closed sooner if another client sends a frame, but not before its time", async () => {
    const { shell, client } = await silent();
    const other = await shell.connect();
    shell.advance(EXTENDED_PATIENCE_MS_MIN);
    other.emit("say");
    expect(client.closing).toBeUndefined();
    shell.advance(60_000);
    other.emit("say");
    expect(client.closing?.code).toBe(4002);
    expect(other.closing).toBeUndefined();
  });

  it("is closed also if the room slept meanwhile", async () => {
    const { shell, client } = await silent();
    shell.advance(20_000);
    shell.evict();
    shell.advance(1.5 * REAP_INTERVAL_MS);
    expect(client.closing?.code).toBe(4002);
  });

  it("a hidden tab that sends a pong once a minute stays", async () => {
    const { shell, client } = await silent();
    for (let minutes = 0; minutes < 60; minutes++) {
      shell.advance(60_000);
      client.send("3");
    }
    expect(client.closing).toBeUndefined();
  });
});
