// Tests of what a sleep keeps of sockets of a stock server, and of their listeners: for the application, as if the object had never slept.
import type { EventEmitter } from "node:events";

import type { Socket } from "socket.io";
import { describe, expect, it } from "vitest";

import { Client, settled } from "./host/recovering-object.ts";
import { sleeper, tell, type Own } from "./host/sleeper.ts";

/** A middleware for events. */
const holding =
  (wait: () => unknown) =>
  async (_event: unknown, next: () => void): Promise<void> => {
    await wait();
    next();
  };

describe("what code sets is as if the object had never slept", () => {
  it("whoever sets it, and whenever: after an `await`, in another's handler, in a timer", async () => {
    let goOn = (): void => {};
    const object = sleeper((io) => {
      tell(io);
      io.on("connection", (socket) => {
        const own = socket as unknown as Own;
        socket.on("slowly", async () => {
          await new Promise<void>((resolve) => (goOn = resolve));
          own["slow"] = 1;
        });
        socket.on("data slowly", async () => {
          socket.data.slow = await new Promise((resolve) => (goOn = () => resolve(2)));
        });
        socket.on("by timer", () => void setTimeout(() => (own["late"] = 3), 5));
        socket.on("others", () => {
          for (const other of io.of("/").sockets.values()) (other as unknown as Own)["named"] = 4;
        });
        socket.on("ask", (name: string, answer: (value: unknown) => void) => answer(own[name] ?? socket.data[name]));
      });
    });
    const [ada, ben] = [await new Client(object).connect(), await new Client(object).connect()];
    const later = async (event: string): Promise<void> => {
      ada.emit(event);
      await settled();
      object.wait(30_000);
      goOn();
      await settled();
      await object.sleep();
    };
    await later("slowly");
    await later("data slowly");
    ada.emit("by timer");
    await expect.poll(() => (object.socketOf(ada) as unknown as Own)["late"]).toBe(3);
    await object.sleep();
    ben.emit("others");
    await settled();
    await object.sleep();
    for (const name of ["slow", "late", "named"]) ada.ask("ask", name);
    await settled();
    expect([ada.answers, object.socketOf(ada).data]).toEqual([[1, 3, 4], { slow: 2 }]);
  });

  it.each<[string, unknown, unknown]>([
    ["a number", 5, 6],
    ["null", null, { a: 1 }],
    ["nothing", undefined, "text"],
    ["a list", [1, { two: 2 }], []],
    ["a map", new Map([["a", { b: new Date(5) }]]), new Map()],
  ])("`socket.data` may be %s", async (_what, data, first) => {
    const object = sleeper((io) => void io.on("connection", (socket) => (socket.data = first)));
    const ada = await new Client(object).connect();
    object.socketOf(ada).data = data;
    await settled();
    for (let rounds = 0; rounds < 2; rounds++) {
      await object.sleep();
      expect(object.socketOf(ada).data).toEqual(data);
    }
  });

  it("what `connection` does to such a part is undone in it, whatever kind of part it is", async () => {
    type Parts = {
      list: string[];
      map: Map<string, { n: number }>;
      set: Set<string>;
      names: Record<string, number>;
    };
    const object = sleeper((io) =>
      io.on("connection", (socket) => {
        const data = socket.data as Partial<Parts>;
        const list = (data.list ??= []);
        const map = (data.map ??= new Map());
        const set = (data.set ??= new Set());
        const names = (data.names ??= {});
        const add = (what: string): void => {
          list.push(what);
          for (const part of map.values()) part.n++;
          map.set(what, { n: 0 });
          set.add(what);
          names[what] = list.length;
        };
        add(`came to ${list.length}`);
        socket.on("add", add);
      }),
    );
    const ada = await new Client(object).connect();
    for (const what of ["a", "b"]) {
      await object.sleep();
      ada.emit("add", what);
      await settled();
    }
    await object.sleep();
    const list = ["came to 0", "a", "b"];
    const map = new Map(list.map((what, at) => [what, { n: 2 - at }]));
    const names = { "came to 0": 1, a: 2, b: 3 };
    expect(object.socketOf(ada).data).toEqual({ list, map, set: new Set(list), names } satisfies Parts);
    expect(object.warnings).toEqual([]);
  });

  it("what `connection` sets anew gives way to what was stored, and is named; a constant of the application stays as it is", async () => {
    const DEFAULTS = { theme: "light" };
    const object = sleeper((io) =>
      io.on("connection", (socket) => {
        const data = socket.data as Record<string, unknown>;
        data["settings"] = DEFAULTS;
        socket.on("choose", (theme: string) => void (data["settings"] = { theme }));
      }),
    );
    const ada = await new Client(object).connect();
    ada.emit("choose", "dark");
    await settled();
    await object.sleep();
    const ben = await new Client(object).connect();
    expect([object.socketOf(ada).data, object.socketOf(ben).data, DEFAULTS]).toEqual([
      { settings: { theme: "dark" } },
      { settings: { theme: "light" } },
      { theme: "light" },
    ]);
    expect(object.warnings).toEqual([expect.stringContaining("`connection` sets an object in socket.data")]);
  });

  it("an object that a socket has twice is one after a sleep, too", async () => {
    const object = sleeper((io) =>
      io.on("connection", (socket) =>
        socket.on("set", () => {
          const part: { n: number[] } = { n: [] };
          part.n[2] = 3;
          Object.assign(socket, { part, data: { part, list: [part] } });
        }),
      ),
    );
    const ada = await new Client(object).connect();
    ada.emit("set");
    await settled();
    for (let rounds = 0; rounds < 2; rounds++) {
      await object.sleep();
      const socket = object.socketOf(ada) as unknown as Own;
      const data = socket.data as { part: { n: unknown[] }; list: unknown[] };
      expect([data.list[0] === data.part, socket["part"] === data.part, 1 in data.part.n]).toEqual([true, true, false]);
    }
  });

  it("a property that an event has deleted stays away", async () => {
    const object = sleeper((io) =>
      io.on("connection", (socket) => {
        const own = socket as unknown as Own;
        own["name"] = "guest";
        socket.on("forget", () => void Reflect.deleteProperty(own, "name"));
      }),
    );
    const ada = await new Client(object).connect();
    ada.emit("forget");
    await settled();
    await object.sleep();
    await object.sleep();
    expect("name" in object.socketOf(ada)).toBe(false);
  });

  it("what middlewares gave the request comes back, too; they do not run again", async () => {
    let runs = 0;
    const object = sleeper(
      (io) =>
        io.use((socket, next) => {
          runs++;
          Object.assign(socket.request, { user: { id: 7 } });
          next();
        }),
      { connectionStateRecovery: { skipMiddlewares: false } },
    );
    const ada = await new Client(object).connect();
    await object.sleep();
    expect([(object.socketOf(ada).request as unknown as Own)["user"], runs]).toEqual([{ id: 7 }, 1]);
  });

  it("what they put into `auth` does so, too, if no packet carries it, and ends no connection", async () => {
    const object = sleeper((io) => {
      io.use(({ handshake }, next) => {
        Object.assign(handshake.auth, { id: 5n, self: handshake.auth });
        next();
      });
      tell(io);
    });
    const clients = [
      await new Client(object, "/", { auth: { name: "Ada" } }).connect(),
      await new Client(object).connect(),
    ];
    await object.sleep();
    const { auth } = object.socketOf(clients[0]!).handshake;
    expect(auth).toMatchObject({ name: "Ada", id: 5n });
    expect(auth["self"]).toBe(auth);
    clients[1]!.emit("say", "after");
    await settled();
    expect(clients.map(({ got, closings }) => [got, closings])).toEqual([
      [["after"], []],
      [["after"], []],
    ]);
    expect(object.problems).toEqual([]);
  });

  it("what they gave its handshake does so as well", async () => {
    const object = sleeper((io) =>
      io.use((socket, next) => {
        Object.assign(socket.handshake, { user: { id: 7 }, session: new URL("http://session") });
        next();
      }),
    );
    const ada = await new Client(object).connect();
    await object.sleep();
    await object.sleep();
    expect(object.socketOf(ada).handshake).toMatchObject({ user: { id: 7 } });
    expect(new Set(object.warnings)).toEqual(
      new Set(["socket.handshake.session is no plain data: after a sleep it is gone"]),
    );
  });

  it.each<[string, (socket: Socket, listener: () => unknown) => unknown]>([
    ["a listener by `once`", (socket, listener) => socket.once("go", listener)],
    ["one by `prependOnceListener`", (socket, listener) => socket.prependOnceListener("go", listener)],
    [
      "a middleware for events",
      (socket, listener) => (socket as unknown as { use(middleware: unknown): void }).use(holding(listener)),
    ],
    [
      "a listener that a middleware held",
      (socket, listener) =>
        socket
          .use((event, next) => void holding(listener)(event, next))
          .on("go", () => void ((socket as unknown as Own)["late"] = 1)),
    ],
  ])("%s sets it after a while", async (_what, add) => {
    let goOn = (): void => {};
    const object = sleeper((io) =>
      io.on("connection", (socket) =>
        add(socket, async () => {
          await new Promise<void>((resolve) => (goOn = resolve));
          (socket as unknown as Own)["late"] = 1;
        }),
      ),
    );
    const ada = await new Client(object).connect();
    ada.emit("go");
    await settled();
    object.wait(30_000);
    goOn();
    await settled();
    await object.sleep();
    expect((object.socketOf(ada) as unknown as Own)["late"]).toBe(1);
  });

  it("parts that cannot be changed in place are replaced; what one socket has of that kind harms no other", async () => {
    const object = sleeper((io) =>
      io.on("connection", (socket) => {
        socket.data.list = ["start"];
        socket.data.settings = Object.freeze({ theme: "light" });
        Object.defineProperty(socket, "theme", { get: () => socket.data.settings.theme as string, enumerable: true });
        socket.on("choose", (theme: string) => {
          socket.data.list.push(theme);
          socket.data.settings = Object.freeze({ theme, isChosen: true });
        });
      }),
    );
    const clients = [await new Client(object).connect(), await new Client(object).connect()];
    for (const [at, client] of clients.entries()) client.emit("choose", `dark ${at}`);
    await settled();
    for (let rounds = 0; rounds < 2; rounds++) {
      await object.sleep();
      for (const [at, client] of clients.entries()) {
        const socket = object.socketOf(client) as unknown as Own;
        const theme = `dark ${at}`;
        expect(socket.data).toEqual({ list: ["start", theme], settings: { theme, isChosen: true } });
        expect(socket["theme"]).toBe(theme);
      }
    }
  });
});

it("the application knows its own listeners again, by `listeners` and `off`", async () => {
  const heard: string[] = [];
  const first = (): number => heard.push("first");
  const second: () => unknown = async () => heard.push("second");
  const object = sleeper((io) =>
    io.on("connection", (socket) => {
      socket.on("go", first);
      socket.prependListener("go", second);
      socket.once("go", first);
      socket.prependOnceListener("go", second);
    }),
  );
  const ada = await new Client(object).connect();
  await object.sleep();
  const socket = object.socketOf(ada) as unknown as EventEmitter;
  expect(socket.listeners("go")).toEqual([second, second, first, first]);
  for (let times = 0; times < 2; times++) {
    ada.emit("go");
    await settled();
  }
  expect(heard).toEqual(["second", "second", "first", "first", "second", "first"]);
  for (const listener of [first, second]) socket.off("go", listener);
  expect(socket.listeners("go")).toEqual([]);
});
