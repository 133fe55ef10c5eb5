// socket.ask: each ask ends once, also through disconnects, sleep and death of the room.
import { PacketType } from "socket.io-parser";
import { describe, expect, it } from "vitest";

import { ASK_MS_MAX, type AskAnswer } from "../../../src/socketio/server/acks.ts";
import type { Socket } from "../../../src/socketio/server/socket.ts";
import type { Client, FakeShell } from "../../host/harness.ts";
import { probeShell, type ProbeParts } from "../../host/probe.ts";

const HOUR_MS = 3_600_000;

type End = [answer: AskAnswer, data: unknown];

/** A room that asks a client for an ack on request, and a client that requested it twice. `ends` has the results. */
async function asked(
  parts: ProbeParts = {},
): Promise<{ shell: FakeShell; client: Client; calls: string[]; ends: End[] }> {
  const ends: End[] = [];
  const { shell, calls } = probeShell({
    handlers: {
      ask: (socket, timeoutMs, data) => void socket.ask("q", [], { handler: "goOn", data, timeoutMs }),
      leave: (socket, close) => socket.disconnect(close),
    },
    continuations: {
      goOn: (socket, answer, data) => {
        ends.push([answer, data]);
        calls.push(`${answer.kind} ${socket.id}`);
      },
    },
    ...parts,
  });
  const client = await shell.connect();
  client.emit("ask", HOUR_MS, "first");
  client.emit("ask", 2 * HOUR_MS, "second");
  calls.length = 0;
  return { shell, client, calls, ends };
}

const answer = (client: Client, at: number, ...args: unknown[]): void => {
  const questions = client.packets.filter(({ type, id }) => type === PacketType.EVENT && id !== undefined);
  client.sendPacket({ type: PacketType.ACK, nsp: "/", id: questions[at]!.id!, data: args });
};

describe("an ask ends", () => {
  const goings: Array<[how: string, go: (client: Client) => void]> = [
    ["the line breaks", (client) => client.leave()],
    ["the client leaves the namespace", (client) => client.send("41")],
    ["the client leaves the session", (client) => client.send("1")],
    ["the client breaks the protocol", (client) => client.send("nonsense")],
    ["the server puts it out of the namespace", (client) => client.emit("leave", false)],
    ["the server ends the session", (client) => client.emit("leave", true)],
  ];

  it.each(goings.flatMap(([how, go]) => [false, true].map((sleeps) => ({ how, go, sleeps }))))(
    "with `disconnected` when $how (the room slept: $sleeps)",
    async ({ go, sleeps }) => {
      const { shell, client, calls, ends } = await asked();
      const id = client.socketId();
      if (sleeps) shell.evict();
      go(client);
      expect(ends).toEqual([
        [{ kind: "disconnected" }, "first"],
        [{ kind: "disconnected" }, "second"],
      ]);
      const [first, second, last, ...more] = calls.filter((call) => !call.startsWith("restore"));
      expect([first, second, last?.split(":")[0], more]).toEqual([
        `disconnected ${id}`,
        `disconnected ${id}`,
        `disconnect ${id}`,
        [],
      ]);
      shell.advance(3 * HOUR_MS);
      expect(ends).toHaveLength(2);
    },
  );

  it("with the ack or the timeout, and not once more when its socket ends", async () => {
    const { shell, client, ends } = await asked();
    answer(client, 1, "fine", 7);
    shell.evict();
    shell.advance(HOUR_MS);
    answer(client, 0, "too late");
    client.leave();
    expect(ends).toEqual([
      [{ kind: "ack", args: ["fine", 7] }, "second"],
      [{ kind: "timeout" }, "first"],
    ]);
  });

  it("both at their time if they are due together and the first one disconnects the client", async () => {
    const ends: string[] = [];
    const { shell, client } = await asked({
      continuations: {
        goOn: (socket, { kind }, data) => {
          ends.push(`${kind} ${data as string}`);
          socket.disconnect();
        },
      },
    });
    client.emit("ask", HOUR_MS, "third");
    shell.advance(HOUR_MS);
    expect(ends).toEqual(["timeout first", "disconnected second", "disconnected third"]);
  });

  it("when its client was asked in onDisconnecting; a client that is gone is not asked", async () => {
    const answers: unknown[] = [];
    const ask = (socket: Socket, data: string): boolean =>
      socket.ask("q", [], { handler: "goOn", data, timeoutMs: 1000 });
    const { shell, client, ends } = await asked({
      onDisconnecting: (socket) => answers.push(ask(socket, "going")),
      onDisconnect: (socket) => answers.push(ask(socket, "gone")),
    });
    client.leave();
    expect(ends.map(([{ kind }, data]) => `${kind} ${data as string}`)).toEqual([
      "disconnected first",
      "disconnected second",
      "disconnected going",
    ]);
    expect(answers).toEqual([true, false]);
    expect(shell.quietMs).toBe(Infinity);
  });
});

describe("a continuation for a socket that ends", () => {
  it("finds the channels and the data, and can emit to all others", async () => {
    const { shell, client } = await asked({
      onConnect: (socket) => socket.join("red"),
      continuations: {
        goOn(socket, { kind }, data) {
          this.to([...socket.rooms]).emit("ended", kind, data, socket.connected, [...socket.rooms]);
        },
      },
    });
    const other = await shell.connect();
    const before = client.frames.length;
    client.send("41");
    expect(other.heard("ended")).toEqual([
      ["disconnected", "first", false, ["red"]],
      ["disconnected", "second", false, ["red"]],
    ]);
    expect(client.frames, "who has left hears nothing").toHaveLength(before);
  });

  it("that fails is logged, and other asks end as usual", async () => {
    const ends: unknown[] = [];
    const { shell, client, calls } = await asked({
      continuations: {
        goOn: (_socket, _answer, data) => {
          ends.push(data);
          throw new Error("bug");
        },
      },
    });
    const other = await shell.connect();
    client.send("41");
    expect(ends).toEqual(["first", "second"]);
    expect(client.closing).toBeUndefined();
    expect(shell.problems).toHaveLength(2);
    expect(calls.filter((call) => call.startsWith("disconnect"))).toHaveLength(1);
    expect(other.closing).toBeUndefined();
  });
});

it("an ask that has ended leaves no deadline", async () => {
  const { shell, client } = await asked();
  answer(client, 0);
  answer(client, 1);
  client.leave();
  expect(shell.quietMs).toBe(Infinity);
});

it.each([0, -1, Number.NaN, Infinity, ASK_MS_MAX + 1])(
  "a time of %s ms is a mistake of the application's",
  async (ms) => {
    let mistake: unknown;
    const { client, ends } = await asked({
      onDisconnecting: (socket) => {
        try {
          socket.ask("q", [], { handler: "goOn", timeoutMs: ms });
        } catch (error) {
          mistake = error;
        }
      },
    });
    client.leave();
    expect(String(mistake)).toMatch(/^RangeError: ask: timeoutMs is 1 to \d+, not /);
    expect(ends).toHaveLength(2);
  },
);

describe("socket.disconnect() in onDisconnecting", () => {
  it.each([false, true])("changes nothing (close: %s)", async (close) => {
    const { shell, client, calls } = await asked({ onDisconnecting: (socket) => socket.disconnect(close) });
    client.emit("leave", false);
    expect(client.frames.filter((frame) => frame === "41")).toHaveLength(1);
    expect(calls.filter((call) => call.startsWith("disconnect "))).toHaveLength(1);
    expect(shell.problems).toEqual([]);
  });
});

it("socket.rooms is empty in onDisconnect", async () => {
  const seen: string[][] = [];
  const { client } = await asked({
    onConnect: (socket) => socket.join("red"),
    onDisconnecting: ({ id, rooms }) => seen.push([...rooms].map((room) => (room === id ? "own" : room))),
    onDisconnect: ({ rooms }) => seen.push([...rooms]),
  });
  client.leave();
  expect(seen).toEqual([["own", "red"], []]);
});
