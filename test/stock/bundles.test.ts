// Clients of a server of the package that take what their socket is sent at a moment as one event, if its object offers that: BUN-1 to BUN-3.
import type { Server, Socket } from "socket.io";
import { describe, expect, it } from "vitest";

import { runs } from "../host/properties.ts";
import { dice } from "./host/dice.ts";
import { siblingGroup } from "./host/group.ts";
import { Client, RecoveringObject, settled } from "./host/recovering-object.ts";
import { settle, StockObject, type StockClient } from "./host/stock-object.ts";

const ASKS = '{"bundle":true}';
const BUNDLE = '42["bundle",[["said","a"],["said","b"],["said","c"]]]';
const SINGLE = ['42["said","a"]', '42["said","b"]', '42["said","c"]'];

/** With each `say` of a client everybody in its namespace gets its texts, one by one. */
function saying(io: Server): void {
  const handle = (socket: Socket): void =>
    void socket.on("say", (...texts: string[]) => {
      for (const text of texts) socket.nsp.emit("said", text);
    });
  io.on("connection", handle);
  io.of("/other").on("connection", handle);
  io.of(/^\/room-\d$/).on("connection", handle);
}

const offering = (register: (io: Server) => void = saying): StockObject =>
  new StockObject(register, { own: { bundles: true } });

async function framesAfter(client: StockClient, act: () => unknown): Promise<unknown[]> {
  const { length } = client.frames;
  act();
  await settle();
  return client.frames.slice(length);
}

describe("BUN-1: a client asks for bundles", () => {
  it("with its CONNECT, or with its handshake; the others get each event by itself", async () => {
    const object = offering();
    const [byAuth, plain] = [await object.join(ASKS), await object.join()];
    const byQuery = await object.join("", { bundle: "1" });
    const all = [byAuth, byQuery, plain];
    for (const client of all) client.frames.length = 0;
    plain.send('42["say","a","b","c"]');
    await settle();
    expect(all.map(({ frames }) => frames)).toEqual([[BUNDLE], [BUNDLE], SINGLE]);
    expect(await framesAfter(byAuth, () => plain.send('42["say","alone"]'))).toEqual(['42["said","alone"]']);
  });

  it.each([['{"bundle":false}'], ['{"bundle":"true"}'], ['{"bundle":1}'], [""]])(
    "not with %s, nor with ?bundle=true",
    async (auth) => {
      const client = await offering().join(auth, { bundle: "true" });
      expect(await framesAfter(client, () => client.send('42["say","a","b","c"]'))).toEqual(SINGLE);
    },
  );

  it("in vain, if its object does not offer them", async () => {
    const client = await new StockObject(saying).join(ASKS, { bundle: "1" });
    expect(await framesAfter(client, () => client.send('42["say","a","b","c"]'))).toEqual(SINGLE);
  });

  it("for one namespace, or with the handshake for all, those of a pattern among them", async () => {
    const object = offering();
    const [one, all] = [await object.join("/other," + ASKS), await object.join("/other,", { bundle: "1" })];
    for (const client of [one, all]) client.send("40", "40/room-1,");
    await settle();
    for (const nsp of ["/other", "/room-1"]) {
      const frames = [one, all].map((client) => framesAfter(client, () => {}));
      one.send(`42${nsp},["say","a","b"]`);
      const bundle = `42${nsp},["bundle",[["said","a"],["said","b"]]]`;
      const single = [`42${nsp},["said","a"]`, `42${nsp},["said","b"]`];
      expect(await Promise.all(frames)).toEqual([nsp === "/other" ? [bundle] : single, [bundle]]);
    }
  });

  it.each(["auth", "query"])("not if a middleware has taken its `%s` away, and is heard even so", async (taken) => {
    const object = offering((io) => {
      io.use(({ handshake }, next) => {
        Reflect.deleteProperty(handshake, taken);
        next();
      });
      saying(io);
    });
    const client = taken === "auth" ? await object.join(ASKS) : await object.join("", { bundle: "1" });
    expect(await framesAfter(client, () => client.send('42["say","a","b","c"]'))).toEqual(SINGLE);
  });

  it("afresh with each CONNECT, whatever listeners of its socket the application has removed", async () => {
    const object = offering((io) => {
      saying(io);
      io.on("connection", (socket) => socket.on("forget", () => void socket.removeAllListeners()));
    });
    const client = await object.join(ASKS);
    for (const [auth, frames] of [
      ["", SINGLE],
      [ASKS, [BUNDLE]],
    ] as const) {
      client.send('42["forget"]');
      await settle();
      client.send("41");
      await settle();
      client.send(`40${auth}`);
      await settle();
      expect(await framesAfter(client, () => client.send('42["say","a","b","c"]'))).toEqual(frames);
    }
  });

  it("and has in one bundle what listeners for `connection` send, and what several pieces of code of a moment do", async () => {
    const object = offering((io) => {
      io.on("connection", (socket) => {
        socket.emit("one");
        void Promise.resolve().then(() => io.emit("two"));
        socket.emit("three");
      });
    });
    const client = await object.join(ASKS);
    expect(client.frames.slice(2)).toEqual(['42["bundle",[["one"],["three"]]]', '42["two"]']);
  });

  it("over long-polling: a poll brings all that nobody has fetched, or what is sent at a moment while it waits", async () => {
    const object = offering();
    const { io, server } = object;
    const client = object.open({ transport: "polling" });
    server.beginPost(client.session);
    server.endPost(client.session, `40${ASKS}`);
    await settle();
    const poll = (): Promise<unknown[]> => framesAfter(client, () => server.poll(client.session));
    const say = (): void => ["a", "b", "c"].forEach((text) => io.emit("said", text));
    expect([...(await poll()), ...(await poll())].map((frame) => String(frame).slice(0, 2))).toEqual(["0{", "40"]);
    say();
    await settle();
    expect(await poll()).toEqual([BUNDLE]);
    expect(await poll()).toEqual([]);
    expect(await framesAfter(client, say)).toEqual([BUNDLE]);
  });

  it("and listeners of `drain`, `flush` and `packetCreate` are told of each packet as without bundles", async () => {
    const told: string[] = [];
    const object = offering((io) => {
      saying(io);
      io.on("connection", ({ conn }) => {
        for (const event of ["drain", "flush", "packetCreate"] as const) conn.on(event, () => told.push(event));
      });
    });
    const client = await object.join(ASKS);
    told.length = 0;
    expect(await framesAfter(client, () => client.send('42["say","a","b","c"]'))).toEqual([BUNDLE]);
    expect(told).toEqual(["packetCreate", "flush", "drain", "packetCreate", "packetCreate", "flush", "drain"]);
  });

  it("whoever sends more each time that packets leave does not hold the others up", async () => {
    const object = offering((io) => {
      saying(io);
      let left = 5;
      io.on("connection", (socket) => socket.conn.on("drain", () => left-- > 0 && socket.emit("more", left)));
    });
    const client = await object.join(ASKS);
    client.send('42["say","a"]');
    await settle();
    const got = client.events.flatMap((event) => (event[0] === "bundle" ? (event[1] as unknown[][]) : [event]));
    expect(got).toEqual([["said", "a"], ...[4, 3, 2, 1, 0].map((left) => ["more", left])]);
    expect(object.problems).toEqual([]);
  });
});

describe("BUN-2: what the server sends keeps its order", () => {
  it("a volatile event is in the bundle; behind another one it is left out, as on Node", async () => {
    const object = offering((io) => {
      io.on("connection", (socket) =>
        socket.on("go", (isFirst: boolean) => {
          if (isFirst) socket.volatile.emit("volatile", 0);
          socket.emit("one", 1);
          socket.volatile.emit("volatile", 1);
          socket.emit("two", 2);
        }),
      );
    });
    const client = await object.join(ASKS);
    const frames = [
      await framesAfter(client, () => client.send('42["go",true]')),
      await framesAfter(client, () => client.send('42["go",false]')),
    ];
    expect(frames).toEqual([
      ['42["bundle",[["volatile",0],["one",1],["two",2]]]'],
      ['42["bundle",[["one",1],["two",2]]]'],
    ]);
  });

  it("the last words before a socket, or its connection, is disconnected arrive", async () => {
    const object = offering((io) => {
      io.on("connection", (socket) =>
        socket.on("bye", (isAll: boolean) => {
          socket.emit("last");
          socket.emit("words");
          socket.disconnect(isAll);
        }),
      );
    });
    for (const isAll of [false, true]) {
      const client = await object.join(ASKS);
      client.send(`42["bye",${isAll}]`);
      await settle();
      const names = client.events.flatMap((event) => (event[0] === "bundle" ? (event[1] as unknown[][]) : [event]));
      expect([names, client.frames.at(-1)]).toEqual([[["last"], ["words"]], "41"]);
    }
  });
});

describe("BUN-3: with recovery", () => {
  it("each event ends with its offset, and the bundle with that of the last one; missed events come in a bundle", async () => {
    const object = new RecoveringObject(saying, { bundles: true });
    const [ada, ben] = [
      await new Client(object, "/", { auth: { bundle: true } }).connect(),
      await new Client(object).connect(),
    ];
    const frames: string[] = [];
    object.leaving = (frame) => void (String(frame).startsWith('42["bundle"') && frames.push(String(frame)));
    ben.emit("say", "a", "b");
    await settled();
    ada.break();
    ben.emit("say", "c", "d");
    await settled();
    await ada.connect();
    expect([ada.recovered, ada.got, ben.got]).toEqual([true, ["a", "b", "c", "d"], ["a", "b", "c", "d"]]);
    expect(frames).toHaveLength(2);
    for (const frame of frames) {
      const [, events, offset] = JSON.parse(frame.slice(2)) as [string, string[][], string];
      expect(events.map(([name, text]) => [name, text!.length])).toEqual([
        ["said", 1],
        ["said", 1],
      ]);
      expect([new Set(events.map((event) => event.at(-1))).size, events.at(-1)!.at(-1)]).toEqual([2, offset]);
    }
    expect(object.problems).toEqual([]);
  });

  it("a client that bundles does so after a sleep of its object", async () => {
    const object = new RecoveringObject(saying, { sleeps: true, bundles: true });
    const auth = { bundle: true };
    const ada = await new Client(object, "/room-1", { auth }).connect();
    const second = await new Client(object, "/other", { over: ada }).connect();
    const all = ["a", "a", "b", "b", "c", "c"];
    const bundles: string[] = [];
    object.leaving = (frame) => void (String(frame).includes('["bundle"') && bundles.push(String(frame)));
    for (const text of ["a", "b", "c"]) {
      for (const client of [ada, second]) client.emit("say", text, text);
      await object.sleep();
    }
    expect([ada.got, second.got]).toEqual([all, all]);
    expect(bundles.map((frame) => frame.slice(0, 12))).toEqual(Array.from({ length: 3 }, () => '42/room-1,["'));
    expect([object.problems, object.warnings]).toEqual([[], []]);
  });
});

describe("in objects that are siblings", () => {
  it("what comes from another one in one call is one bundle", async () => {
    const [one, two] = siblingGroup(2, saying).members;
    const ada = await one!.enter(ASKS);
    const ben = await two!.enter();
    expect(await framesAfter(ada, () => ben.send('42["say","a","b","c"]'))).toEqual([BUNDLE]);
    expect(ben.frames.slice(-3)).toEqual(SINGLE);
  });
});

/** What clients get of a story in which pieces of code send several things at once, by whether they bundle, and the object sleeps. */
async function story(seed: number, bundling: readonly boolean[], sleeps: boolean): Promise<object> {
  const roll = dice(seed);
  const object = new RecoveringObject(
    (io) => {
      const handle = (socket: Socket): void => {
        socket.on("join", (room: string) => socket.join(room));
        socket.on("leave", (room: string) => socket.leave(room));
        socket.on("burst", (room: string, texts: ReadonlyArray<[kind: number, text: string]>, answer?: () => void) => {
          for (const [kind, text] of texts) {
            if (kind === 0) socket.nsp.emit("said", text);
            else if (kind === 1) socket.to(room).emit("said", text);
            else if (kind === 2) socket.emit("said", text);
            else if (kind === 3) socket.nsp.emit("said", text, new Uint8Array([1, 2]));
            else answer?.();
          }
        });
      };
      io.on("connection", handle);
      io.of(/^\/room-\d$/).on("connection", handle);
    },
    { sleeps, bundles: true },
  );
  let bundles = 0;
  object.leaving = (frame) => void (bundles += Number(String(frame).includes('["bundle"')));
  const clients = ["/", "/", "/room-1", "/room-1"].map(
    (nsp, at) => new Client(object, nsp, { auth: bundling[at] ? { bundle: true } : {} }),
  );
  for (const client of clients) await client.connect();
  const rooms = ["red", "blue"];
  for (let step = 0; step < 40; step++) {
    const client = clients[roll(clients.length)]!;
    const room = rooms[roll(rooms.length)]!;
    const texts = Array.from({ length: 1 + roll(5) }, (_, at) => [roll(5), `${step}.${at}`]);
    const act = roll(8);
    const comesBack = roll(2) === 0;
    const fate = roll(6);
    if (act === 0) client.emit("join", room);
    else if (act === 1) client.emit("leave", room);
    else if (act === 2) {
      client.break();
      await settled();
      if (comesBack) clients.find((one) => one.nsp === client.nsp && one !== client)!.emit("burst", room, texts);
      await settled();
      await client.connect();
    } else if (act === 3) client.ask("burst", room, texts);
    else client.emit("burst", room, texts);
    await settled();
    if (fate === 0 && sleeps) await object.sleep();
  }
  expect([object.problems, object.warnings]).toEqual([[], []]);
  if (bundling.includes(true)) expect(bundles).toBeGreaterThan(0);
  else expect(bundles).toBe(0);
  return clients.map(({ got, answers, entries, recovered }) => ({ got, answers, entries, recovered }));
}

it.each(Array.from({ length: runs(12).numRuns }, (_, at) => at + 1))(
  "clients get the same, whoever of them bundles, awake and with sleeps (seed %i)",
  async (seed) => {
    const plain = await story(seed, [], false);
    expect(await story(seed, [true, false, false, true], false)).toEqual(plain);
    expect(await story(seed, [true, true, true, true], true)).toEqual(plain);
  },
);
