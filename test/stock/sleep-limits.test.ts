// Tests of what a sleep of stock servers does not bring back, which is named or ended, and of what it costs.
import type { Server } from "socket.io";
import { Adapter } from "socket.io-adapter";
import { describe, expect, it } from "vitest";

import { SOCKET_CHARS_MAX } from "../../src/stock/socket-rows.ts";
import { Client, settled, WINDOW_MS } from "./host/recovering-object.ts";
import { greeting, sleeper, type Own } from "./host/sleeper.ts";

describe("a crash", () => {
  it("while the object sleeps: clients come back to their sockets, and miss nothing", async () => {
    const object = sleeper(greeting);
    const [ada, ben] = [await new Client(object).connect(), await new Client(object).connect()];
    ada.emit("login", "Ada");
    ada.emit("say", "before");
    await settled();
    await object.sleep();
    object.crash();
    await ben.connect();
    ben.emit("say", "missed");
    await settled();
    await ada.connect();
    expect([ada.recovered, ada.got.slice(-4)]).toEqual([true, ["before", "somebody", "missed", "hello"]]);
    expect([...object.socketOf(ada).rooms]).toContain("members");
  });

  it("long before the object starts again: what was on its way then is not missed, though the object has slept since", async () => {
    const object = sleeper(greeting);
    const [ada, ben] = [await new Client(object).connect(), await new Client(object).connect()];
    ben.emit("say", "before");
    await settled();
    ada.vanish();
    ben.emit("say", "on its way");
    await settled();
    object.die(600_000);
    await ben.connect();
    for (let wakes = 0; wakes < 3; wakes++) {
      object.wait(25_000);
      await object.sleep();
    }
    await ada.connect();
    expect([ada.recovered, ada.got.slice(-4)]).toEqual([true, ["before", "on its way", "somebody", "hello"]]);
  });

  it("whoever does not come back after it is forgotten in time, however often the object wakes", async () => {
    const object = sleeper(greeting);
    const [ada, ben] = [await new Client(object).connect(), await new Client(object).connect()];
    await object.sleep();
    object.crash();
    await ben.connect();
    for (let waitedMs = 0; waitedMs < WINDOW_MS; waitedMs += 25_000) {
      expect(object.sessionRows).toBe(2);
      object.wait(25_000);
      await object.sleep();
    }
    object.wait(1);
    expect([object.sessionRows, ben.entries]).toEqual([1, 2]);
    await ada.connect();
    expect(ada.recovered).toBe(false);
  });
});

describe("is named in the log", () => {
  const warningsOf = async (register: (io: Server) => void, use: (client: Client) => void): Promise<string[]> => {
    const object = sleeper(register);
    const client = await new Client(object).connect();
    use(client);
    await settled();
    await object.sleep();
    return [...new Set(object.warnings)];
  };
  it.each<[string, (socket: Own) => void, string]>([
    ["a property that is no plain data", (socket) => (socket["timer"] = () => {}), "socket.timer is no plain data"],
    [
      "one by a symbol",
      (socket) => Object.assign(socket, { [Symbol("own")]: 1 }),
      "socket.Symbol(own) is no plain data",
    ],
    [
      "one of the request",
      ({ request }) =>
        Object.assign(request, {
          session: new (class Session {
            id = 7;
          })(),
        }),
      "socket.request.session is no plain data",
    ],
    [
      "data of a class",
      (socket) =>
        (socket.data.user = new (class User {
          name = "Ada";
        })()),
      "socket.data is no plain data",
    ],
    ["a question of `connection`", (socket) => void socket.emit("question", () => {}), "`connection` asks a client"],
    [
      "one that waits for a while",
      (socket) => void socket.timeout(1).emit("question", () => {}),
      "`connection` asks a client",
    ],
  ])("%s", async (_what, set, problem) => {
    const warnings = await warningsOf(
      (io) => io.on("connection", (socket) => set(socket as unknown as Own)),
      () => {},
    );
    expect(warnings).toEqual([expect.stringContaining(problem)]);
  });

  it("an object that two connected sockets have, and that can be changed: after a sleep each has its own", async () => {
    const limits = Object.freeze({ members: 5 });
    const object = sleeper((io) => {
      const room = { members: 0 };
      io.on("connection", (socket) => {
        socket.data.limits = limits;
        socket.on("enter", () => void (socket.data.at = { room }));
      });
    });
    const enter = async (client: Client): Promise<void> => {
      client.emit("enter");
      await settled();
    };
    const [ada, ben] = [await new Client(object).connect(), await new Client(object).connect()];
    await enter(ada);
    ada.leave();
    await enter(ben);
    expect(object.warnings).toEqual([]);
    await enter(await new Client(object).connect());
    expect(new Set(object.warnings)).toEqual(
      new Set([expect.stringMatching(/^socket\.data has an object that another/)]),
    );
  });

  it("a listener that was there before the sleep, and is not after it", async () => {
    const register = (io: Server): void =>
      void io.on("connection", (socket) => socket.on("login", () => socket.on("secret", () => {})));
    expect(await warningsOf(register, (client) => client.emit("login"))).toEqual([
      'a socket has no listener for "secret" after a sleep, and had one before',
    ]);
  });

  it("an adapter that the application sets beside the options: no socket is stored, and each sleep ends all connections", async () => {
    const register = (io: Server): void => void io.adapter(Adapter);
    expect(await warningsOf(register, () => {})).toEqual([expect.stringContaining("`io.adapter` has set another")]);
  });

  it("a client that joins no namespace until its time is over", async () => {
    const object = sleeper(greeting, { connectTimeout: 20 });
    const client = new Client(object);
    object.open(client);
    object.wait(45_000);
    await expect.poll(() => client.closings).toHaveLength(1);
    expect(object.warnings).toEqual(["unjoined"]);
  });

  it("an answer to a question from before the sleep, which is none to a later one", async () => {
    const answers: unknown[] = [];
    const object = sleeper((io) =>
      io.on("connection", (socket) => {
        socket.on("ask me", () => void socket.emit("question", (answer: unknown) => answers.push(answer)));
      }),
    );
    const ada = await new Client(object).connect();
    ada.emit("ask me");
    await settled();
    await object.sleep();
    ada.emit("ask me");
    await settled();
    const [first, second] = ada.events.map(({ id }) => id!);
    ada.answer(first!, "first");
    ada.answer(second!, "second");
    await settled();
    expect([answers, object.warnings]).toEqual([
      ["second"],
      [expect.stringContaining("a question from before a sleep")],
    ]);
  });
});

it("half of a binary packet ends its connection, when the rest comes after a sleep; its client comes back", async () => {
  const object = sleeper(greeting);
  const ada = await new Client(object).connect();
  ada.connection!.send('451-["say",{"_placeholder":true,"num":0}]');
  await settled();
  await object.sleep();
  ada.connection!.send(new Uint8Array([1]));
  await settled();
  expect(ada.closings).toHaveLength(1);
  await ada.connect();
  expect(ada.recovered).toBe(true);
});

describe("what cannot be stored", () => {
  it.each<[string, unknown]>([
    ["a function", { call: () => {} }],
    ["too much", { text: "x".repeat(SOCKET_CHARS_MAX) }],
  ])("as %s in `socket.data`, ends its connection with the next wake: with all of its sockets", async (_what, data) => {
    const object = sleeper(greeting);
    const [ada, ben] = [await new Client(object).connect(), await new Client(object).connect()];
    const second = await new Client(object, "/second", { over: ada }).connect();
    object.socketOf(second).data = data;
    await settled();
    await object.sleep();
    expect([ada.closings, ben.closings]).toEqual([[1012], []]);
    expect(object.problems).toEqual([expect.stringContaining("cannot be stored")]);
    await ada.connect();
    expect([ada.recovered, object.sessionRows]).toEqual([true, 2]);
  });

  it("is not tried again with each event", async () => {
    const object = sleeper((io) => {
      io.on("connection", (socket) => socket.on("ask", (answer: () => void) => answer()));
    });
    const ada = await new Client(object, "/", { auth: { much: "x".repeat(900_000) } }).connect();
    await settled();
    const before = object.rowsWritten;
    for (let asked = 0; asked < 20; asked++) {
      ada.ask("ask");
      await settled();
      object.wait(500);
    }
    expect([object.rowsWritten - before, ada.answers.length]).toEqual([0, 20]);
    await object.sleep();
    expect(ada.closings).toEqual([1012]);
  });
});

it("hostile data of clients is data", async () => {
  const object = sleeper((io) =>
    io.on("connection", (socket) => {
      socket.data = {};
      socket.on("set", (data: string) => (socket.data = JSON.parse(data) as object));
    }),
  );
  const auth = JSON.parse('{"__proto__": {"isAdmin": true}, "constructor": 1, "pid": 5, "offset": {}}') as object;
  const ada = await new Client(object, "/", { auth }).connect();
  ada.emit("set", '{"__proto__": {"isAdmin": true}, "a": 1}');
  await settled();
  for (let rounds = 0; rounds < 2; rounds++) {
    await object.sleep();
    const { data, handshake } = object.socketOf(ada);
    expect([Object.keys(data as object), (data as { isAdmin?: boolean }).isAdmin]).toEqual([
      ["__proto__", "a"],
      undefined,
    ]);
    expect(Object.keys(handshake.auth)).toEqual(["__proto__", "constructor", "pid", "offset"]);
  }
  // A stranger who names the secret of a sleeping client, and the offset of a wake, gets a socket of its own.
  const pid = (object.socketOf(ada) as unknown as Own)["pid"];
  const eve = await new Client(object, "/", { auth: { pid, offset: "asleep" } }).connect();
  expect([eve.recovered, eve.id === ada.id]).toEqual([false, false]);
});

describe("costs", () => {
  it("a wake writes no row, reads each twice, and does not keep the object awake", async () => {
    const object = sleeper(greeting);
    const clients: Client[] = [];
    for (let at = 0; at < 50; at++) clients.push(await new Client(object, "/", { auth: { at } }).connect());
    await object.sleep();
    const [written, read] = [object.rowsWritten, object.rowsRead];
    await object.sleep();
    expect([object.rowsWritten - written, object.rowsRead - read]).toEqual([0, 100]);
    expect(object.isLooking).toBe(false);
    expect(clients.every(({ entries }) => entries === 1)).toBe(true);
  });

  it("a connection, its namespaces and its changes are rows as docs/cost.md says", async () => {
    const object = sleeper(greeting);
    const costOf = async (run: () => unknown): Promise<number> => {
      const before = object.rowsWritten;
      await run();
      await settled();
      await object.sleep();
      return object.rowsWritten - before;
    };
    // The first packet makes the tables.
    const first = await new Client(object).connect();
    await object.sleep();
    first.emit("say", "x");
    await settled();
    const ada = new Client(object);
    expect(await costOf(() => ada.connect()), "a connection, and two packets that greet it").toBe(1 + 1);
    const second = new Client(object, "/second", { over: ada });
    expect(await costOf(() => second.connect()), "a namespace more, and two packets").toBe(1 + 1);
    expect(await costOf(() => ada.emit("login", "Ada")), "an event that changes a socket").toBe(1);
    expect(await costOf(() => ada.emit("say", "x")), "one that sends a packet").toBe(1);
    expect(await costOf(() => {}), "a wake").toBe(0);
    expect(await costOf(() => object.wait(WINDOW_MS * 2)), "the first wake after a window").toBe(5);
    for (let wakes = 0; wakes < 10; wakes++)
      expect(await costOf(() => object.wait(WINDOW_MS * 2)), "a wake long after it").toBe(0);
  });
});
