// Tests of stock servers that sleep while clients are connected: for the application a wake is a restart from which every client recovers, and
// clients notice nothing. The package socket.io runs over storage and connections that outlive each instance.
import { Decoder, Encoder, type Packet } from "socket.io-parser";
import type { Server, Socket } from "socket.io";
import { describe, expect, it, vi } from "vitest";

import { Client, settled, WINDOW_MS, type RecoveringObject } from "./host/recovering-object.ts";
import { greeting, sleeper, tell, type Own } from "./host/sleeper.ts";

const stateOf = (object: RecoveringObject, client: Client): object => {
  const socket = object.socketOf(client) as unknown as Own;
  const { id, recovered, handshake, data } = socket;
  return { id, recovered, rooms: [...socket.rooms], data, name: socket["name"], handshake: { ...handshake } };
};

/** Of applications that take everybody for new. */
const SET_ANEW = new Set([expect.stringContaining("`connection` sets an object in socket.data")]);

it("clients notice nothing: each socket has its id, rooms, data, handshake and own properties, and nobody is greeted again", async () => {
  const object = sleeper(greeting);
  const auth = { name: "Ada", nested: { a: [1] } };
  const ada = await new Client(object, "/", { auth }).connect();
  const second = await new Client(object, "/second", { over: ada, auth: { second: true } }).connect();
  const ben = await new Client(object).connect();
  for (const client of [ada, second]) client.emit("login", "Ada");
  await settled();
  const before = [ada, second, ben].map((client) => stateOf(object, client));
  const got = [ada, second, ben].map((client) => [...client.got]);
  for (let rounds = 0; rounds < 3; rounds++) {
    await object.sleep();
    const after = [ada, second, ben].map((client) => stateOf(object, client));
    expect(after).toEqual(before.map((state) => ({ ...state, recovered: true })));
    expect([ada, second, ben].map((client) => client.got)).toEqual(got);
  }
  ben.emit("say", "after");
  second.emit("say", "in the second");
  await settled();
  expect([ada, second, ben].map((client) => client.got.at(-1))).toEqual(["after", "in the second", "after"]);
  expect([ada, second, ben].map(({ entries, closings }) => [entries, closings])).toEqual([
    [1, []],
    [1, []],
    [1, []],
  ]);
  expect([object.problems, new Set(object.warnings)]).toEqual([[], SET_ANEW]);
});

describe("namespaces", () => {
  const room = (socket: Socket): void => {
    socket.emit("welcome", socket.nsp.name);
    socket.on("say", (text: string) => void socket.nsp.emit("said", text));
  };
  it.each<[string, (io: Server) => void]>([
    ["a pattern", (io) => void io.of(/^\/room-\d$/).on("connection", room)],
    [
      "a function that decides later",
      (io) =>
        void io
          .of((name, _auth, next) => void setTimeout(() => next(null, name.startsWith("/room")), 1))
          .on("connection", room),
    ],
    ["a pattern, and go with their last socket", (io) => void io.of(/^\/room-\d$/).on("connection", room)],
  ])("of %s come back", async (what, register) => {
    const object = sleeper(register, { cleanupEmptyChildNamespaces: what.includes("go with") });
    const clients = ["/room-1", "/room-2", "/room-1"].map((nsp) => new Client(object, nsp));
    for (const client of clients) {
      await client.connect();
      await expect.poll(() => client.entries).toBe(1);
    }
    await object.sleep();
    clients[0]!.emit("say", "one");
    await settled();
    expect(clients.map(({ got }) => got)).toEqual([["/room-1", "one"], ["/room-2"], ["/room-1", "one"]]);
    expect(clients.map(({ entries, closings }) => [entries, ...closings])).toEqual([[1], [1], [1]]);
  });

  it("that are gone end their connections: clients are not left with half of their sockets", async () => {
    let names = ["/one", "/two"];
    const register = (io: Server): void => {
      tell(io);
      for (const name of names) io.of(name);
    };
    const object = sleeper(register, { lateMs: 50 });
    const [ada, ben] = [await new Client(object).connect(), await new Client(object).connect()];
    await new Client(object, "/two", { over: ada }).connect();
    names = ["/one"];
    await object.sleep();
    expect([ada.closings, ben.closings]).toEqual([[1012], []]);
    ben.emit("say", "alone");
    await settled();
    await ada.connect();
    expect([ada.recovered, ada.got, ben.got]).toEqual([true, ["alone"], ["alone"]]);
  });
});

it("sockets are in the order in which they came", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const object = sleeper((io) => void io.of("/second"));
  const came: Client[] = [];
  for (const nsp of ["/", "/second", "/", "/second", "/"]) {
    came.push(await new Client(object, nsp).connect());
    vi.setSystemTime(Date.now() + 1);
  }
  came.push(await new Client(object, "/second", { over: came[0]! }).connect());
  vi.useRealTimers();
  await object.sleep();
  const orderOf = (nsp: string): string[] => [...object.io.of(nsp).sockets.keys()];
  for (const nsp of ["/", "/second"])
    expect(orderOf(nsp)).toEqual(came.filter((client) => client.nsp === nsp).map(({ id }) => id));
});

it("with a parser of the application's own", async () => {
  class JsonEncoder extends Encoder {
    override encode(packet: Packet): Buffer[] {
      return [Buffer.from(JSON.stringify(packet))];
    }
  }
  class JsonDecoder extends Decoder {
    override add(text: unknown): void {
      if (!Buffer.isBuffer(text)) throw new Error("no buffer");
      this.emitReserved("decoded", JSON.parse(String(text)) as Packet);
    }
  }
  const parser = { Encoder: JsonEncoder, Decoder: JsonDecoder };
  const object = sleeper(greeting, { parser });
  const ada = await new Client(object, "/", { parser }).connect();
  await object.sleep();
  ada.emit("say", "still here");
  await settled();
  expect([ada.entries, ada.got]).toEqual([1, ["hello", "still here"]]);
});

it("rooms that a socket has left or joined since it came are as they were, its own among them", async () => {
  const object = sleeper((io) =>
    io.on("connection", (socket) => {
      void socket.leave(socket.id);
      void socket.leave("lobby");
      socket.on("enter", () => socket.join("lobby"));
    }),
  );
  const ada = await new Client(object).connect();
  ada.emit("enter");
  await settled();
  for (let rounds = 0; rounds < 2; rounds++) {
    await object.sleep();
    expect([...object.socketOf(ada).rooms]).toEqual(["lobby"]);
  }
});

describe("listeners for `connection`", () => {
  it("that go on after an `await` are done before an event comes, and greet nobody again", async () => {
    const object = sleeper((io) =>
      io.on("connection", async (socket) => {
        await new Promise((resolve) => void setTimeout(resolve, 5));
        socket.data = { score: 0 };
        void socket.join("lobby");
        socket.emit("welcome", "hello");
        socket.on("score", (score: number) => {
          (socket.data as { score: number }).score = score;
          void socket.leave("lobby");
        });
      }),
    );
    const ada = await new Client(object).connect();
    await expect.poll(() => ada.got).toEqual(["hello"]);
    for (const score of [1, 2]) {
      ada.emit("score", score);
      await settled();
      await object.sleep();
    }
    const { data, rooms } = object.socketOf(ada);
    expect([data, [...rooms], ada.got]).toEqual([{ score: 2 }, [ada.id], ["hello"]]);
    expect(new Set(object.warnings)).toEqual(SET_ANEW);
  });

  it.each<[string, (greet: () => void) => void]>([
    ["a tick", (greet) => process.nextTick(greet)],
    ["a microtask", (greet) => queueMicrotask(greet)],
    ["setImmediate", (greet) => void setImmediate(greet)],
    ["a timer", (greet) => void setTimeout(greet, 1)],
  ])("greet nobody again by %s", async (_how, later) => {
    let greetings = 0;
    const object = sleeper((io) => {
      tell(io);
      io.on("connection", (socket) =>
        later(() => {
          greetings++;
          io.emit("joined", "somebody");
          socket.emit("welcome", "hello");
        }),
      );
    });
    const ada = await new Client(object).connect();
    await expect.poll(() => ada.got).toEqual(["somebody", "hello"]);
    await object.sleep();
    await expect.poll(() => greetings).toBe(2);
    ada.emit("say", "after");
    await settled();
    expect(ada.got).toEqual(["somebody", "hello", "after"]);
  });

  it("that wait for an event of their client go on with it after a sleep; their timers greet nobody again", async () => {
    let greetings = 0;
    const register = (io: Server): void =>
      void io.on("connection", async (socket) => {
        setTimeout(() => {
          greetings++;
          socket.emit("welcome", "hello");
        }, 20);
        const name = await new Promise<string>((resolve) => socket.once("login", resolve));
        void socket.join("members");
        socket.emit("said", `welcome, ${name}`);
      });
    const object = sleeper(register, { lateMs: 5 });
    const ada = await new Client(object).connect();
    await expect.poll(() => greetings).toBe(1);
    await object.sleep();
    ada.emit("login", "Ada");
    await expect.poll(() => greetings).toBe(2);
    await settled();
    expect(ada.got).toEqual(["hello", "welcome, Ada"]);
    expect([...object.socketOf(ada).rooms]).toEqual([ada.id, "members"]);
  });

  it("that never end are named, and what they send later is sent", async () => {
    let send = (): void => {};
    const register = (io: Server): void =>
      void io.on("connection", async (socket) => {
        for (let at = 0; ; at++) {
          await new Promise<void>((resolve) => (send = resolve));
          socket.emit("tick", at);
        }
      });
    const object = sleeper(register, { lateMs: 50 });
    const ada = await new Client(object).connect();
    await object.sleep();
    expect(object.warnings).toEqual([expect.stringContaining("events had to wait for it")]);
    send();
    await settled();
    expect(ada.got).toEqual([]);
    object.wait(10_000);
    send();
    await settled();
    expect(ada.got).toEqual([1]);
  });

  it("that throw harm nobody", async () => {
    let throws = false;
    const object = sleeper((io) => {
      tell(io);
      io.engine.on("connection", (conn: { send(text: string): void }) => {
        conn.send('2["said","a raw greeting"]');
        if (throws) throw new Error("of the engine");
      });
    });
    const [ada, ben] = [await new Client(object).connect(), await new Client(object).connect()];
    throws = true;
    await object.sleep();
    ada.emit("say", "still here");
    await settled();
    for (const { got } of [ada, ben]) expect(got).toEqual(["a raw greeting", "still here"]);
    expect(object.problems).toEqual(Array(2).fill(expect.stringContaining("of the engine")));
  });

  it("that leave a property which cannot be set end that connection alone: its client comes back", async () => {
    let isFixed = false;
    const object = sleeper((io) => {
      tell(io);
      io.on("connection", (socket) => {
        if (socket.handshake.auth["name"] !== "ada") return;
        const fix = { set: () => void expect.unreachable("a fixed score"), get: () => 1 };
        Object.defineProperty(socket, "score", isFixed ? fix : { value: 1, enumerable: true, writable: true });
      });
    });
    const ada = await new Client(object, "/", { auth: { name: "ada" } }).connect();
    const ben = await new Client(object).connect();
    isFixed = true;
    await object.sleep();
    expect([ada.closings, ben.closings]).toEqual([[1012], []]);
    await ada.connect();
    ben.emit("say", "still here");
    await settled();
    expect([ada, ben].map(({ got }) => got)).toEqual([["still here"], ["still here"]]);
    expect(object.problems).toEqual([expect.stringContaining("could not be restored")]);
  });

  it.each([
    ["its socket", false],
    ["its connection", true],
  ])("that end %s do so: its client learns it, and so do the others", async (_what, ends) => {
    let unwanted: unknown;
    const object = sleeper((io) =>
      io.on("connection", (socket) => {
        socket.on("disconnect", () => void io.emit("left", "somebody"));
        if (socket.handshake.auth["name"] === unwanted) socket.disconnect(ends);
      }),
    );
    unwanted = "ada";
    const [cid, ben] = [await new Client(object).connect(), await new Client(object).connect()];
    unwanted = "nobody";
    const ada = await new Client(object, "/", { auth: { name: "ada" } }).connect();
    const dan = await new Client(object).connect();
    unwanted = "ada";
    await object.sleep();
    expect([ada.isOut, ada.closings.length]).toEqual([true, ends ? 1 : 0]);
    expect([cid, ben, dan].map(({ got }) => got)).toEqual([["somebody"], ["somebody"], ["somebody"]]);
    expect(object.sessionRows).toBe(3);
  });

  it("that end a connection with sockets in further namespaces do not delay the wake of others", async () => {
    let unwanted: unknown;
    const register = (io: Server): void => {
      tell(io.of("/second") as unknown as Server);
      io.on("connection", (socket) => void (socket.handshake.auth["name"] === unwanted && socket.disconnect(true)));
    };
    // It would wait for ever.
    const object = sleeper(register, { lateMs: 2 ** 31 - 1 });
    const ada = await new Client(object, "/", { auth: { name: "ada" } }).connect();
    await new Client(object, "/second", { over: ada }).connect();
    const ben = await new Client(object, "/second").connect();
    unwanted = "ada";
    await object.sleep();
    ben.emit("say", "after");
    await settled();
    expect([ada.closings.length, ben.got]).toEqual([1, ["after"]]);
  });
});

describe("`register`", () => {
  it("may take its time: connections wait for it", async () => {
    const object = sleeper(async (io) => {
      await new Promise((resolve) => void setTimeout(resolve, 5));
      tell(io);
    });
    const ada = new Client(object);
    await new Promise((resolve) => void setTimeout(resolve, 20));
    await ada.connect();
    await object.sleep();
    ada.emit("say", "still here");
    await settled();
    expect(ada.got).toEqual(["still here"]);
  });

  it("that fails at a wake ends the connections: their clients come back", async () => {
    let fails = false;
    const object = sleeper(async (io) => {
      await Promise.resolve();
      if (fails) throw new Error("no database");
      tell(io);
    });
    const ada = await new Client(object).connect();
    fails = true;
    await object.sleep();
    expect(ada.closings).toEqual([1012]);
    fails = false;
    object.die();
    await ada.connect();
    expect(ada.recovered).toBe(true);
  });
});

it("two closed connections that wake the object at once", async () => {
  let ends = 0;
  const object = sleeper((io) =>
    io.on("connection", async (socket) => {
      socket.on("disconnect", () => {
        ends++;
        io.emit("left", "somebody");
      });
      await new Promise((resolve) => void setTimeout(resolve, 1));
    }),
  );
  const [ada, ben] = [await new Client(object).connect(), await new Client(object).connect()];
  const cid = await new Client(object).connect();
  await object.sleep(ada, ben);
  expect([ends, cid.got, object.io.engine.clientsCount]).toEqual([2, ["somebody", "somebody"], 1]);
});

it("a closed connection that wakes the object: its client may be back before its listener for `connection` is done, which changes nothing even so", async () => {
  let isSlow = false;
  let done = (): void => {};
  const object = sleeper((io) =>
    io.on("connection", async (socket) => {
      socket.data.visits = ((socket.data as { visits?: number }).visits ?? 0) + 1;
      if (isSlow) await new Promise<void>((resolve) => (done = resolve));
    }),
  );
  const ada = await new Client(object).connect();
  const { pid } = object.socketOf(ada) as unknown as { pid: string };
  isSlow = true;
  const woken = object.sleep(ada);
  await expect.poll(() => object.socketOf(ada)?.recovered).toBe(true);
  isSlow = false;
  const back = await new Client(object, "/", { auth: { pid } }).connect();
  done();
  await woken;
  expect([back.recovered, object.socketOf(back).data]).toEqual([true, { visits: 2 }]);
});

it("a closed connection that wakes the object: listeners for `disconnect` run, and the other clients get the event", async () => {
  const object = sleeper(greeting);
  const [ada, ben] = [await new Client(object).connect(), await new Client(object).connect()];
  ada.emit("login", "Ada");
  await settled();
  await object.sleep(ada);
  expect(ben.got).toEqual(["hello", "gone"]);
  ben.emit("say", "missed");
  await settled();
  await ada.connect();
  // As on Node, for the application it is one that comes.
  expect([ada.recovered, ada.got]).toEqual([true, ["hello", "somebody", "missed", "hello"]]);
  await object.sleep(ben);
  await object.sleep(ada);
  object.wait(WINDOW_MS + 1);
  expect(object.sessionRows).toBe(0);
});
