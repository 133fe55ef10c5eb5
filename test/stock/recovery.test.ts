// Tests of the recovery of stock servers: clients that come back get their sockets and all that they missed, also after a crash. The package
// socket.io runs over storage that a crash cuts off.
import type { Server, Socket } from "socket.io";
import { describe, expect, it } from "vitest";

import { SOCKET_CHARS_MAX } from "../../src/stock/socket-rows.ts";
import { nameIncarnation } from "../../src/storage/incarnations.ts";
import { chat, Client, RecoveringObject, settled, WINDOW_MS } from "./host/recovering-object.ts";

describe.each([
  ["a crash", (object: RecoveringObject) => object.die()],
  ["a broken connection", (_object: RecoveringObject, ...clients: Client[]) => clients.forEach((one) => one.break())],
  [
    "a break that the object does not notice",
    (_: RecoveringObject, ...clients: Client[]) => clients.forEach((one) => one.vanish()),
  ],
])("after %s", (how, cut) => {
  it("a client gets its id, its rooms, its data, and what it missed", async () => {
    const object = new RecoveringObject();
    const [ada, ben] = [await new Client(object).connect(), await new Client(object).connect()];
    const { id } = ada;
    ada.emit("join", "red");
    await settled();
    const kept = { name: "Ada", since: new Date(5), bytes: new Uint8Array([1, 2]), tags: new Set(["x"]) };
    object.socketOf(ada).data = kept;
    ben.emit("all", "before");
    await settled();
    const notice = ada.vanish();
    ben.emit("all", "lost");
    ben.emit("to", "red", "in red");
    ben.emit("to", "blue", "not in blue");
    await settled();
    if (how === "a broken connection") notice();
    cut(object);
    if (!ben.connection) await ben.connect();
    ben.emit("all", "while away");
    await settled();
    await ada.connect();
    expect([ada.recovered, ada.id]).toEqual([true, id]);
    const socket = object.socketOf(ada);
    expect([socket.recovered, [...socket.rooms], socket.data]).toEqual([true, [id, "red"], kept]);
    ben.emit("to", "red", "after");
    await settled();
    expect(ada.got).toEqual(["before", "lost", "in red", "while away", "after"]);
    expect(object.problems).toEqual([]);
  });

  it("it may break again and again, in a namespace of a pattern as in any", async () => {
    const object = new RecoveringObject((io) => io.of(/^\/room-\d+$/).on("connection", (socket) => socket.join("red")));
    const [ada, ben] = [await new Client(object, "/room-1").connect(), await new Client(object, "/room-2").connect()];
    for (let round = 0; round < 5; round++) {
      cut(object, ada, ben);
      for (const name of ["/room-1", "/room-2"]) object.io.of(name).to("red").emit("said", `${round} in ${name}`);
      await Promise.all([ada.connect(), ben.connect()]);
      expect([ada.recovered, ben.recovered]).toEqual([true, true]);
    }
    const all = (name: string): string[] => [0, 1, 2, 3, 4].map((round) => `${round} in ${name}`);
    // A namespace of a pattern is there once somebody has come back to it.
    if (how !== "a crash") expect([ada.got, ben.got]).toEqual([all("/room-1"), all("/room-2")]);
  });

  it("it gets no event of a room from before it joined, and none from after it left", async () => {
    const object = new RecoveringObject();
    const [ada, ben] = [await new Client(object).connect(), await new Client(object).connect()];
    ada.emit("join", "red");
    await settled();
    const notice = ada.vanish();
    ben.emit("to", "blue", "before");
    ben.emit("to", "red", "within");
    await settled();
    await object.socketOf(ada).join("blue");
    await object.socketOf(ada).leave("red");
    await settled();
    ben.emit("to", "red", "too late");
    ben.emit("to", "blue", "within, too");
    await settled();
    if (how === "a broken connection") notice();
    cut(object);
    await ada.connect();
    expect([ada.recovered, ada.got]).toEqual([true, ["within", "within, too"]]);
  });

  it.each(["zzzzzzzzzz.0", "zzzzzzzzzz.zz", "asleep", "nonsense"])(
    "one that names an offset which no packet can have had (%s) starts afresh",
    async (offset) => {
      const object = new RecoveringObject();
      const ada = await new Client(object).connect();
      const { pid } = object.socketOf(ada) as unknown as { pid: string };
      object.io.emit("said", "hello");
      await settled();
      cut(object, ada);
      const forged = await new Client(object, "/", { auth: { pid, offset } }).connect();
      expect([forged.recovered, forged.got]).toEqual([false, []]);
    },
  );

  it("binary packets come whole", async () => {
    const object = new RecoveringObject();
    const ada = await new Client(object).connect();
    cut(object, ada);
    object.io.emit("said", { one: Buffer.from([1, 2]), list: [new Float32Array([0.5]), new Uint8Array([3]).buffer] });
    object.io.emit("said", "text");
    await settled();
    if (how === "a crash") {
      object.die();
    }
    await ada.connect();
    const half = Buffer.from(new Float32Array([0.5]).buffer);
    expect(ada.got).toEqual([{ one: Buffer.from([1, 2]), list: [half, Buffer.from([3])] }, "text"]);
  });

  it.each([
    [true, []],
    [false, ["asked"]],
  ])(
    "middlewares run unless skipMiddlewares says otherwise (%s), and nothing is lost meanwhile",
    async (skipMiddlewares, calls) => {
      const asked: string[] = [];
      let decide: Array<() => void> = [];
      let waits = false;
      const register = (io: Server): void => {
        chat(io);
        io.use((_socket, next) => {
          if (!waits) return next();
          asked.push("asked");
          decide.push(() => next());
        });
      };
      const object = new RecoveringObject(register, { connectionStateRecovery: { skipMiddlewares } });
      const ada = await new Client(object).connect();
      cut(object, ada);
      waits = true;
      object.io.emit("said", "before");
      await ada.connect();
      object.io.emit("said", "meanwhile");
      await settled();
      for (const call of decide) call();
      await settled();
      object.io.emit("said", "after");
      await settled();
      expect([asked, ada.recovered, ada.got]).toEqual([calls, true, ["before", "meanwhile", "after"]]);
      decide = [];
    },
  );

  it("a middleware that refuses it takes nothing away: it is recovered when it is let in", async () => {
    let refuses = false;
    const register = (io: Server): void => {
      chat(io);
      io.use((_socket, next) => next(refuses ? new Error("not now") : undefined));
    };
    const object = new RecoveringObject(register, { connectionStateRecovery: { skipMiddlewares: false } });
    const ada = await new Client(object).connect();
    cut(object, ada);
    object.io.emit("said", "missed");
    refuses = true;
    await ada.connect();
    refuses = false;
    ada.break();
    await ada.connect();
    expect([ada.errors, ada.recovered, ada.got]).toEqual([["not now"], true, ["missed"]]);
  });

  it("one that is away for longer than maxDisconnectionDuration starts afresh", async () => {
    const object = new RecoveringObject();
    const [ada, ben] = [await new Client(object).connect(), await new Client(object).connect()];
    const ids = [ada.id, ben.id];
    if (how === "a break that the object does not notice") ada.break();
    cut(object, ada, ben);
    object.wait(WINDOW_MS);
    await ben.connect();
    object.wait(1);
    await ada.connect();
    expect([ada.recovered, ada.id === ids[0]]).toEqual([false, false]);
    expect([ben.recovered, ben.id === ids[1]]).toEqual([true, true]);
  });
});

it("a client that goes again while a middleware holds it up is forgotten in time, even if that never calls `next`", async () => {
  let isHanging = false;
  const object = new RecoveringObject((io) => void io.use((_socket, next) => void (isHanging || next())), {
    connectionStateRecovery: { skipMiddlewares: false },
  });
  const ada = await new Client(object).connect();
  ada.break();
  isHanging = true;
  await ada.connect();
  ada.break();
  object.io.emit("said", "missed");
  object.wait(2 * WINDOW_MS);
  expect([object.sessionRows, object.packetRows]).toEqual([0, 0]);
});

it("a client that was refused and tries again by another connection misses nothing when the first one ends", async () => {
  let admit: (error?: Error) => void = () => {};
  const object = new RecoveringObject((io) => void io.use((_socket, next) => void (admit = next)), {
    connectionStateRecovery: { skipMiddlewares: false },
  });
  const ada = await new Client(object).connect();
  admit();
  await settled();
  ada.break();
  await ada.connect();
  admit(new Error("not now"));
  await settled();
  const loseFirst = ada.vanish();
  await ada.connect();
  object.io.emit("said", "missed");
  loseFirst();
  admit();
  await settled();
  expect([ada.recovered, ada.got]).toEqual([true, ["missed"]]);
});

it("a client misses nothing that is sent after a crash, though all packets were forgotten before it came", async () => {
  const object = new RecoveringObject();
  const ada = await new Client(object).connect();
  for (const text of ["one", "two", "three"]) object.io.emit("said", text);
  await settled();
  ada.leave();
  await settled();
  object.wait(10 * WINDOW_MS);
  expect(object.packetRows).toBe(0);
  const ben = await new Client(object).connect();
  ben.emit("join", "red");
  await settled();
  object.die();
  object.io.emit("said", "to all");
  object.io.to("red").emit("said", "in red");
  await settled();
  await ben.connect();
  expect([ben.recovered, ben.got]).toEqual([true, ["to all", "in red"]]);
});

it("a client that names the offset of another object gets nothing from before it came", async () => {
  const object = new RecoveringObject();
  await new Client(object).connect();
  const startedAtMs = object.nowMs;
  // Until no packet is stored that has so low a position.
  for (let minute = 0; minute < 10; minute++) {
    object.io.emit("said", minute);
    await settled();
    object.wait(60_000);
  }
  object.io.emit("said", "before");
  await settled();
  // The other object has begun after this one, and before its crash.
  const offset = `${nameIncarnation(startedAtMs + 60_000, "abc", "")}.1`;
  const ada = await new Client(object, "/", { auth: { offset } }).connect();
  object.die();
  object.io.emit("said", "after");
  await settled();
  await ada.connect();
  expect([ada.recovered, ada.got]).toEqual([true, ["after"]]);
});

it("a client that names a packet of an incarnation which a restored backup has removed starts afresh", async () => {
  const object = new RecoveringObject();
  const ada = await new Client(object).connect();
  const { pid } = object.socketOf(ada) as unknown as { pid: string };
  object.io.emit("said", "hello");
  await settled();
  // After the incarnation that is stored, and before that of the next start.
  const offset = `${nameIncarnation(object.nowMs + 1000, "abc", "")}.1`;
  object.die(10_000);
  object.io.emit("said", "missed");
  await settled();
  const back = await new Client(object, "/", { auth: { pid, offset } }).connect();
  expect([back.recovered, back.got]).toEqual([false, []]);
});

it("a client in a quiet room of a busy server is recovered, however long ago its last event was", async () => {
  const object = new RecoveringObject();
  const [ada, ben] = [await new Client(object).connect(), await new Client(object).connect()];
  ada.emit("join", "quiet");
  ben.emit("to", "quiet", "hello");
  await settled();
  for (let minute = 0; minute < 60; minute++) {
    object.io.to("busy").emit("said", minute);
    await settled();
    object.wait(60_000);
  }
  expect(object.packetRows).toBeLessThan(10);
  ada.vanish();
  ben.emit("to", "quiet", "lost");
  await settled();
  object.die();
  await ada.connect();
  expect([ada.recovered, ada.got]).toEqual([true, ["hello", "lost"]]);
});

it("a server that was quiet for an hour recovers its clients after a crash", async () => {
  const object = new RecoveringObject();
  const ada = await new Client(object).connect();
  object.io.emit("said", "hello");
  await settled();
  object.wait(3_600_000);
  expect(object.packetRows).toBe(1);
  object.die();
  object.io.emit("said", "back");
  await ada.connect();
  expect([ada.recovered, ada.got]).toEqual([true, ["hello", "back"]]);
});

it("a client whose end fails in the application's code starts afresh", async () => {
  const object = new RecoveringObject((io) =>
    io.on("connection", (socket) =>
      socket.on("disconnecting", () => {
        throw new Error("on purpose");
      }),
    ),
  );
  const ada = await new Client(object).connect();
  const { id } = ada;
  ada.vanish();
  await ada.connect();
  object.io.emit("said", "hello");
  await settled();
  expect([ada.recovered, ada.id === id, ada.got]).toEqual([false, false, ["hello"]]);
  expect(object.problems).toEqual([expect.stringContaining("on purpose")]);
});

it("a client that left its namespace is not recovered", async () => {
  const object = new RecoveringObject();
  const ada = await new Client(object).connect();
  ada.leave();
  await settled();
  ada.break();
  await ada.connect();
  expect(ada.recovered).toBe(false);
});

it("data in proxies, as those that the Admin UI makes, survive a crash as what they stand for", async () => {
  const observed = <Kind extends object>(kept: Kind): Kind => new Proxy(kept, {});
  const object = new RecoveringObject();
  const ada = await new Client(object).connect();
  const since = new Date(5);
  object.socketOf(ada).data = observed({
    name: "Ada",
    tags: observed(["x", observed({ since })]),
    names: new Set(["A"]),
  });
  await settled();
  object.die();
  await ada.connect();
  const stored = { name: "Ada", tags: ["x", { since }], names: new Set(["A"]) };
  expect([ada.recovered, object.socketOf(ada).data, object.problems]).toEqual([true, stored, []]);
});

it("data of an object that lives come back as they are; those that cannot be stored do not survive a crash, and are named once", async () => {
  const object = new RecoveringObject();
  const [ada, ben] = [await new Client(object).connect(), await new Client(object).connect()];
  const data = { talk: () => "hello" };
  object.socketOf(ada).data = data;
  object.socketOf(ben).data = { long: "x".repeat(SOCKET_CHARS_MAX) };
  await settled();
  ada.break();
  await ada.connect();
  expect(object.socketOf(ada).data).toBe(data);
  expect(object.problems).toEqual([expect.stringMatching(/^socket .* cannot be stored/)]);
  object.die();
  await Promise.all([ada.connect(), ben.connect()]);
  expect([ada.recovered, ben.recovered]).toEqual([false, false]);
});

/** Takes longer than the code that asks for it. */
const later = async <Value>(value: Value): Promise<Value> => (await settled(), value);

interface Around {
  readonly answer: () => void;
  readonly wait: (ms: number) => void;
}

it.each<[how: string, change: (socket: Socket, around: Around) => unknown, waitMs: number]>([
  ["set at once", (socket) => void (socket.data.n = 1), 0],
  ["changed deep inside", (socket) => void socket.data.deep.n++, 0],
  ["replaced", (socket) => void (socket.data = { n: 1 }), 0],
  ["set by another socket's handler", ({ nsp }) => nsp.sockets.forEach((one) => (one.data.n = 1)), 0],
  ["set to what takes a while", async (socket) => void (socket.data.n = await later(1)), 1000],
  [
    "set to what takes a while, and answered",
    async (socket, { answer }) => {
      socket.data.n = await later(1);
      answer();
    },
    0,
  ],
  [
    "set to what takes a while, and sent to the client",
    async (socket) => {
      socket.data.n = await later(1);
      socket.emit("said", "done");
    },
    0,
  ],
  [
    "set much later through an older reference, before an answer to a ping",
    async ({ data, conn }, { wait }) => {
      // Beyond the time for which it is looked at.
      wait(20_000);
      await later(undefined);
      data.n = 1;
      (conn as unknown as { emit(event: string): void }).emit("heartbeat");
    },
    0,
  ],
])("data that are %s survive a crash", async (_how, change, waitMs) => {
  let left: unknown;
  const object: RecoveringObject = new RecoveringObject((io) =>
    io.on("connection", (socket) => {
      if (socket.recovered) left = structuredClone(socket.data);
      else socket.data.deep = { n: 0 };
      socket.on("change", (answer: () => void) => change(socket, { answer, wait: (ms) => object.wait(ms) }));
    }),
  );
  const ada = await new Client(object).connect();
  ada.ask("change");
  for (let turns = 0; turns < 5; turns++) await settled();
  object.wait(waitMs);
  await settled();
  object.die();
  await ada.connect();
  expect(JSON.stringify(left)).toContain(":1");
});
