// Channels (Socket.IO rooms): the recipients of broadcasts.
import { describe, expect, it } from "vitest";

import type { Namespace } from "../../../src/socketio/server/namespace.ts";
import type { Client } from "../../host/harness.ts";
import { probeShell, type Probe } from "../../host/probe.ts";

type Verb = (io: Probe, self: Parameters<NonNullable<Namespace["onConnect"]>>[0], ids: string[]) => unknown;

/** Four sockets: 0 and 1 in "red", 1 and 2 in "blue", 3 in none. Number 0 speaks. */
async function fourSockets() {
  let verb: Verb = () => undefined;
  const ids: string[] = [];
  const { shell } = probeShell({
    handlers: {
      join: (socket, channels) => socket.join(channels),
      leave: (socket, channel) => socket.leave(channel),
      speak(socket) {
        verb(this, socket, ids);
      },
    },
  });
  const clients: Client[] = [];
  for (const channels of [["red"], ["red", "blue"], ["blue"], []]) {
    const client = await shell.connect();
    if (channels.length > 0) client.emit("join", channels);
    clients.push(client);
    ids.push(client.socketId());
  }
  const hearers = (say: Verb): number[] => {
    verb = say;
    for (const { packets } of clients) packets.length = 0;
    clients[0]!.emit("speak");
    return clients.flatMap((client, i) => client.heard("said").map(() => i));
  };
  return { shell, clients, hearers, ids };
}

describe("recipients", () => {
  it.each<[what: string, say: Verb, hearers: number[]]>([
    ["socket.emit", (_io, self) => self.emit("said"), [0]],
    ["socket.broadcast", (_io, self) => self.broadcast.emit("said"), [1, 2, 3]],
    ["socket.to(red)", (_io, self) => self.to("red").emit("said"), [1]],
    ["socket.to(blue)", (_io, self) => self.to("blue").emit("said"), [1, 2]],
    ["socket.to(red).to(blue): each once", (_io, self) => self.to("red").to("blue").emit("said"), [1, 2]],
    ["socket.to([red, blue])", (_io, self) => self.to(["red", "blue"]).emit("said"), [1, 2]],
    ["socket.to(red).except(blue)", (_io, self) => self.to("red").except("blue").emit("said"), []],
    ["socket.to(nowhere)", (_io, self) => self.to("nowhere").emit("said"), []],
    ["socket.to(another's id)", (_io, self, ids) => self.to(ids[3]!).emit("said"), [3]],
    ["socket.to(its own id)", (_io, self) => self.to(self.id).emit("said"), []],
    ["io.emit", (io) => io.emit("said"), [0, 1, 2, 3]],
    ["io.to(red)", (io) => io.to("red").emit("said"), [0, 1]],
    ["io.to(red).in(blue)", (io) => io.to("red").in("blue").emit("said"), [0, 1, 2]],
    ["io.to(red).except(blue)", (io) => io.to("red").except("blue").emit("said"), [0]],
    ["io.except(red)", (io) => io.except("red").emit("said"), [2, 3]],
    ["io.except([red, blue])", (io) => io.except(["red", "blue"]).emit("said"), [3]],
    ["io.except(an id)", (io, _self, ids) => io.except(ids[1]!).emit("said"), [0, 2, 3]],
    ["io.to(a list with nobody)", (io) => io.to(["nowhere"]).emit("said"), []],
    ["io.to(an empty list)", (io) => io.to([]).except([]).emit("said"), []],
    ["io.to(__proto__)", (io) => io.to("__proto__").emit("said"), []],
    ["io.local", (io) => io.local.emit("said"), [0, 1, 2, 3]],
    ["io.compress(true)", (io) => io.compress(true).emit("said"), [0, 1, 2, 3]],
    ["socket.local", (_io, self) => self.local.emit("said"), [1, 2, 3]],
    ["socket.compress(false)", (_io, self) => self.compress(false).emit("said"), [0]],
    ["socket.volatile", (_io, self) => self.volatile.emit("said"), [0]],
    ["socket.volatile.broadcast", (_io, self) => self.volatile.broadcast.emit("said"), [1, 2, 3]],
    ["socket.volatile.to(red)", (_io, self) => self.volatile.to("red").emit("said"), [1]],
    ["socket.volatile.except(red)", (_io, self) => self.volatile.except("red").emit("said"), [2, 3]],
  ])("%s", async (_what, say, expected) => {
    const { shell, hearers } = await fourSockets();
    expect(hearers(say)).toEqual(expected);
    shell.evict();
    expect(hearers(say)).toEqual(expected);
  });

  it("a selection can be used again: later calls on it do not change it", async () => {
    const { hearers } = await fourSockets();
    const say: Verb = (io) => {
      const red = io.to("red");
      red.except("blue");
      red.to("blue");
      red.emit("said");
    };
    expect(hearers(say)).toEqual([0, 1]);
  });
});

describe("membership", () => {
  it("ends with leave, also over sleep", async () => {
    const { shell, clients, hearers } = await fourSockets();
    clients[1]!.emit("leave", "red");
    clients[1]!.emit("leave", "never joined");
    expect(hearers((io) => io.to("red").emit("said"))).toEqual([0]);
    shell.evict();
    expect(hearers((io) => io.to("red").emit("said"))).toEqual([0]);
    expect(hearers((io) => io.to("blue").emit("said"))).toEqual([1, 2]);
  });

  it("is the same after joining twice", async () => {
    const { clients, hearers } = await fourSockets();
    clients[0]!.emit("join", ["red", "red"]);
    expect(hearers((io) => io.to("red").emit("said"))).toEqual([0, 1]);
    clients[0]!.emit("leave", "red");
    expect(hearers((io) => io.to("red").emit("said"))).toEqual([1]);
  });

  it("ends with the connection", async () => {
    const { clients, hearers } = await fourSockets();
    clients[1]!.leave();
    expect(hearers((io) => io.to(["red", "blue"]).emit("said"))).toEqual([0, 2]);
  });

  it("shows in socket.rooms, the socket's own id among them", async () => {
    const { hearers, ids } = await fourSockets();
    let rooms: ReadonlySet<string> = new Set();
    hearers((_io, self) => (rooms = self.rooms));
    expect(rooms).toEqual(new Set([ids[0], "red"]));
  });

  it("does not reach a socket that is gone: its client gets nothing any more", async () => {
    const gate = Promise.withResolvers<void>();
    const { shell } = probeShell({
      handlers: {
        async joinLater(socket) {
          await gate.promise;
          socket.join("red");
        },
        speak() {
          this.to("red").emit("said");
        },
      },
    });
    const [client, other] = [await shell.connect(), await shell.connect()];
    client.emit("joinLater");
    client.send("41");
    gate.resolve();
    await shell.settle();
    other.emit("speak");
    expect(client.received("said")).toHaveLength(0);
  });
});

describe("names that are no strings, as code without types gives them", () => {
  it.each([42, -0, 1.5, Number.NaN, 10n, true, null, undefined, ""])(
    "%s names a channel like any other, and is no text",
    async (given) => {
      const name = given as never;
      const { shell, hearers, clients } = await fourSockets();
      const rooms: boolean[] = [];
      expect(hearers((io) => (io.in("blue").socketsJoin(name), io.to(name).emit("said")))).toEqual([1, 2]);
      expect(hearers((io) => io.except([name]).emit("said"))).toEqual([0, 3]);
      expect(hearers((_io, self) => self.to([name, "red"]).except("blue").emit("said"))).toEqual([]);
      if (given !== "") expect(hearers((io) => io.to(String(given)).emit("said"))).toEqual([]);
      shell.evict();
      expect(hearers((io) => io.in(name).emit("said"))).toEqual([1, 2]);
      hearers((io, self) => {
        self.join(name);
        rooms.push(self.rooms.has(name), self.rooms.has("42"), io.channels.has(name));
        self.leave(name);
        rooms.push(self.rooms.has(name));
        rooms.push(io.in(name).fetchSockets().length === 2);
        io.in(name).socketsLeave([name]);
        rooms.push(io.channels.has(name));
        io.in(name).disconnectSockets();
      });
      expect(rooms).toEqual([true, false, true, false, true, false]);
      expect(clients.map(({ closing }) => closing)).toEqual(Array(4).fill(undefined));
      expect(shell.problems).toEqual([]);
    },
  );

  it("undefined and null select nobody as long as nobody joined them", async () => {
    const { hearers } = await fourSockets();
    for (const name of [undefined, null] as never[]) {
      expect(hearers((io) => io.to(name).emit("said"))).toEqual([]);
      expect(hearers((_io, self) => self.to(name).emit("said"))).toEqual([]);
      expect(hearers((io) => io.except(name).emit("said"))).toEqual([0, 1, 2, 3]);
    }
  });
});

it.each<[call: string, run: (io: Probe, socket: Parameters<Verb>[1]) => unknown]>([
  ["socket.join({})", (_io, socket) => socket.join({} as never)],
  ["socket.join([Symbol()])", (_io, socket) => socket.join([Symbol("x")] as never)],
  ["socket.join(a Set)", (_io, socket) => socket.join(new Set(["x"]) as never)],
  ["socketsJoin(a function)", (io) => io.socketsJoin((() => 1) as never)],
  ["to({})", (io) => io.to({} as never)],
  ["except([new Date(0)])", (io) => io.except([new Date(0)] as never)],
])("%s is an error that names the mistake, because such a name could not be kept", async (_call, run) => {
  const errors: string[] = [];
  const { shell } = probeShell({
    handlers: {
      go(socket) {
        try {
          run(this, socket);
        } catch (error) {
          errors.push(String(error));
        }
      },
    },
  });
  (await shell.connect()).emit("go");
  expect(errors).toEqual([
    expect.stringMatching(
      /^TypeError: a room's name is a string or a number, not (a symbol|a function|\[object \w+\])$/,
    ),
  ]);
});
