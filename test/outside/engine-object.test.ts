// Tests of EngineObject in a real workerd, where it differs from a server on Node: failing handlers, the end of the server, its rooms,
// recovery, sleep, siblings, limits, and what the Worker refuses before. The Worker is that of the folder engine.
import { setTimeout as pause } from "node:timers/promises";

import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { REQUESTS_BY_KIND, SPOOFED_HEADERS } from "../attacks/requests.ts";
import { bundleEngineWorker } from "./engine-worker.ts";
import { startServer, type TestServer } from "./servers.ts";
import { asks, collect, next, open, type Options } from "./stock-clients.ts";
import type { Socket } from "socket.io-client";

let deploymentFile: string;
let server: TestServer;
beforeAll(async () => {
  deploymentFile = await bundleEngineWorker();
  server = await startServer({ deploymentFile });
});
afterAll(async () => {
  await server.stop();
});

/** The platform's 10 s of quiet, and those in which the object looks at its sockets. */
const SLEPT_MS = 12_500;

async function enter(room: string, options: Options = {}, url = server.url): Promise<Socket> {
  const socket = open(url, { ...options, query: { room, ...options.query } });
  await next(socket, "connect");
  return socket;
}

const countOf = (socket: Socket): Promise<number> => asks<number>(socket, "clients");

/** Objects sleep after 10 seconds of quiet: the last tests look. */
let asleep: Promise<Record<"ada" | "ben" | "closing" | "witness" | "polling" | "erasing", Sleeper>>;
beforeAll(() => {
  asleep = fallAsleep();
});

/** It takes 10 seconds until the log names the interval: the last test but these looks. */
beforeAll(async () => {
  const socket = open(server.url, { path: "/limited/rooms/left/socket.io" });
  await next(socket, "connect");
  socket.emit("interval");
  await asks(socket, "echo", 1);
  socket.disconnect();
});

describe("rooms", () => {
  it("of any text are servers of their own", async () => {
    for (const room of ["a b/ç?&#", "x".repeat(256), "-"]) expect(await countOf(await enter(room))).toBe(1);
    expect(await countOf(await enter("a b/ç?&#"))).toBe(2);
  });

  it("stand in the query, in the path, or are `global`", async () => {
    expect(await countOf(await enter("named"))).toBe(1);
    const inPath = open(server.url, { path: "/rooms/named/socket.io" });
    await next(inPath, "connect");
    expect(await countOf(inPath)).toBe(2);
    const unnamed = open(server.url);
    await next(unnamed, "connect");
    expect(await countOf(await enter("global"))).toBe(2);
  });

  it.each([
    ["has no name", "room="],
    ["has a longer one", `room=${"x".repeat(257)}`],
  ])("are refused if one %s", async (_how, query) => {
    const { status } = await fetch(`${server.url}/socket.io/?EIO=4&transport=polling&${query}`);
    expect(status).toBe(400);
  });
});

it("the example of docs/stock-socket-io.md: what one draws, the others of the room get", async () => {
  const query = { unchanged: "" };
  const [ada, ben] = [await enter("plans", { query }), await enter("plans", { query })];
  const drawn = next(ben, "draw");
  ada.emit("draw", [0, 1]);
  expect(await drawn).toEqual([0, 1]);
});

it("a request for the client's files is answered 404 with the place of these files", async () => {
  const answer = await fetch(`${server.url}/socket.io/socket.io.js`);
  expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining("bundle socket.io-client")]);
});

describe("the query of a connection", () => {
  it("may have 8,000 characters", async () => {
    const socket = await enter("long", { query: { long: "q".repeat(8000) } });
    expect(await asks(socket, "facts")).toMatchObject({ query: { long: "q".repeat(8000) } });
  });

  it.each([
    ["is too long", `EIO=4&transport=polling&long=${"q".repeat(9000)}`, 400],
    ["names another transport", "EIO=4&transport=pigeon", 400],
    ["is of another revision", "EIO=3&transport=polling", 400],
    ["wants a WebSocket without an upgrade", "EIO=4&transport=websocket", 426],
  ])("is refused by the Worker if it %s", async (_how, query, status) => {
    expect((await fetch(`${server.url}/socket.io/?${query}`)).status).toBe(status);
  });
});

it("the server sees all subprotocols that a client offers: a token may be among them", async () => {
  const socket = await enter("subprotocols", { transports: ["websocket"], protocols: ["bearer", "a.token"] });
  const { headers } = await asks<{ headers: Record<string, string> }>(socket, "facts");
  expect(headers["sec-websocket-protocol"]?.split(/, ?/)).toEqual(["bearer", "a.token"]);
});

it("a client that asks for bundles gets what is sent at a moment as one event, and recovers what it missed: BUN-1, BUN-3", async () => {
  const path = "/recovering/rooms/bundles/socket.io";
  const options = { path, auth: { bundle: true } };
  const [ada, ben] = [open(server.url, options), open(server.url, { path, query: { bundle: "1" } })];
  const bundles: string[] = [];
  ada.on("bundle", (events: unknown[][], offset: string) => {
    bundles.push(offset);
    for (const [event, ...args] of events)
      for (const listener of ada.listeners(event as string).slice()) listener.apply(ada, args);
  });
  const came: unknown[][] = [];
  ada.on("came", (...args: unknown[]) => came.push(args));
  await Promise.all([next(ada, "connect"), next(ben, "connect")]);
  ada.emit("many", 4);
  await expect.poll(() => came.map(([at]) => at)).toEqual([0, 1, 2, 3]);
  expect(bundles.length).toBeGreaterThan(0);
  ada.io.reconnection(false);
  ada.io.engine.close();
  const meanwhile = collect(ben, "came");
  for (const text of ["missed", "and another"]) ben.emit("all", text);
  await expect.poll(() => meanwhile).toEqual(["missed", "and another"]);
  ada.connect();
  await expect.poll(() => came.slice(4).map(([text]) => text)).toEqual(["missed", "and another"]);
  expect([ada.recovered, bundles.at(-1)]).toEqual([true, came.at(-1)!.at(-1)]);
});

it("a client over long-polling whose connection breaks recovers its socket and what it missed, where the server asks for that", async () => {
  const options = { path: "/recovering/rooms/polling/socket.io", reconnectionDelay: 50 };
  const [ada, ben] = [open(server.url, { ...options, transports: ["polling"] }), open(server.url, options)];
  await Promise.all([next(ada, "connect"), next(ben, "connect")]);
  const { id } = ada;
  const came = collect(ada, "came");
  ben.emit("all", "before");
  await expect.poll(() => came).toEqual(["before"]);
  const back = next(ada, "connect");
  ada.io.engine.close();
  ben.emit("all", "meanwhile");
  await back;
  expect([ada.recovered, ada.id]).toEqual([true, id]);
  ben.emit("all", "after");
  await expect.poll(() => came).toEqual(["before", "meanwhile", "after"]);
});

it("an error or a rejection of a handler or a timer is logged with its place, and harms nobody", async () => {
  const [ada, ben] = [await enter("failing"), await enter("failing")];
  ada.emit("throw");
  ada.emit("throw later");
  ada.emit("reject");
  expect(await asks(ada, "echo", "still there")).toBe("still there");
  expect(await asks(ben, "echo", "here, too")).toBe("here, too");
  await server.prints(/"application\.error".*thrown by a handler.*"at":\["at Socket/);
  await server.prints(/"application\.error".*thrown by a timer.*"at":\["at /);
  await server.prints(/"application\.rejection".*rejected by a handler.*"at":\["at Socket/);
});

it.each(["websocket", "polling"])(
  "`io.close()` ends all connections (%s), and the server takes no further ones",
  async (transport) => {
    const room = `closing ${transport}`;
    const socket = await enter(room, { transports: [transport], reconnection: false });
    const ended = next(socket, "disconnect");
    socket.emit("close server");
    expect(await ended).toBe("transport close");
    const answer = await fetch(`${server.url}/socket.io/?EIO=4&transport=polling&room=${encodeURIComponent(room)}`);
    expect([answer.status, await answer.json()]).toEqual([503, { code: 3, message: "Server closed" }]);
  },
);

it("stores nothing where the server does not ask for recovery", async () => {
  const socket = await enter("storing");
  await asks(socket, "join", "red");
  await asks(socket, "keep", { name: "Ada" });
  socket.emit("all", "text");
  expect(await asks(socket, "stored")).toEqual([]);
  const recovering = open(server.url, { path: "/recovering/rooms/storing/socket.io" });
  await next(recovering, "connect");
  expect(await asks(recovering, "stored")).toEqual(["parley:format", expect.stringMatching(/^stock-session:/)]);
});

describe("hostile handshakes", () => {
  /** Clients of this test cannot ask for an upgrade. */
  const requests = REQUESTS_BY_KIND["handshakes"]!.filter(({ headers = {} }) => !("Upgrade" in headers));

  it("are refused as by a server on Node, or by the Worker", async () => {
    expect(requests.length).toBeGreaterThan(12);
    for (const { name, path: address, method = "GET", body, status } of requests) {
      // A server that refuses a body may end the connection, on which the next request is on its way.
      const answer = await vi.waitFor(() =>
        fetch(`${server.url}${address}`, { method, ...(body !== undefined && { body }) }),
      );
      expect([name, answer.status]).toEqual([name, status]);
      expect(await answer.text()).not.toMatch(/\bat .+:\d+|\.ts:|node_modules/);
    }
  });

  it("with headers that are not a client's to write change nothing that the server sees", async () => {
    const { address } = await asks<{ address: string }>(await enter("headers"), "facts");
    for (const [name, value] of SPOOFED_HEADERS) {
      const socket = await enter("headers", { extraHeaders: { [name]: value } });
      const facts = await asks<{ address: string; headers: object }>(socket, "facts");
      expect([name, facts.address]).toEqual([name, address]);
      expect(facts.headers).not.toHaveProperty("x-parley-upgrade");
      socket.disconnect();
    }
  });
});

describe("code of the application that fails", () => {
  it.each(["connection of the engine", "middleware", "asynchronous middleware", "connection", "packet", "disconnect"])(
    "in %s is logged with its place, and harms nobody else",
    async (place) => {
      const options = { path: "/failing/rooms/failing/socket.io", reconnection: false };
      const ada = open(server.url, options);
      await next(ada, "connect");
      const mallory = open(server.url, { ...options, query: { fail: place } });
      mallory.on("connect", () => mallory.emit("echo", 1, () => mallory.disconnect()));
      await server.prints(new RegExp(`"message":"failed in ${place}","at":\\["at failAt`));
      expect(await asks(ada, "echo", "still there")).toBe("still there");
      const ben = open(server.url, options);
      await next(ben, "connect");
      expect(await asks(ben, "echo", "here, too")).toBe("here, too");
      for (const socket of [ada, ben, mallory]) socket.disconnect();
    },
  );
});

describe("several objects that are one server", () => {
  const shard = async (name: string): Promise<Socket> => {
    const socket = open(server.url, { path: `/shards/rooms/${name}/socket.io` });
    await next(socket, "connect");
    return socket;
  };

  it("reach each other's clients, rooms and servers; one that fails is an error for who waits for it, and for nobody else", async () => {
    const [one, two, three] = [await shard("one"), await shard("two"), await shard("three")];
    const came = [one, two, three].map((socket) => collect<unknown>(socket, "came"));
    await asks(three, "join", "even");
    two.emit("all", Buffer.from("bytes"));
    two.emit("to", "even", "to some");
    await expect
      .poll(() => came)
      .toEqual([[Buffer.from("bytes")], [Buffer.from("bytes")], [Buffer.from("bytes"), "to some"]]);
    const ids = [one.id!, two.id!, three.id!].toSorted();
    expect((await asks<string[]>(two, "sockets")).toSorted()).toEqual(ids);
    expect((await asks<string[]>(two, "call", "serverSideEmitWithAck", ["who"])).toSorted()).toEqual(["one", "three"]);
    for (const socket of [one, two, three])
      socket.on("question", (_what, answer: (id: unknown) => void) => answer(socket.id));
    await asks(two, "call", "socketsJoin", ["all of them"]);
    expect((await asks<string[]>(two, "ask", "all of them", "?")).toSorted()).toEqual(ids);
    // One has a fourth sibling, which fails.
    one.emit("all", "from one");
    await expect.poll(() => came.map((events) => events.at(-1))).toEqual(["from one", "from one", "from one"]);
    await server.prints(/sibling \w+ failed, and misses messages.*its server has no siblings/);
    one.emit("sockets", () => expect.unreachable());
    await server.prints(/"application\.error".*thrown by a timer.*"at":\["at /);
    await server.prints(/"application\.rejection".*timeout reached: only 2 responses received out of 3/);
    const ended = [next(one, "disconnect"), next(three, "disconnect")];
    two.emit("leave me", "io");
    expect(await Promise.all(ended)).toEqual(["io server disconnect", "io server disconnect"]);
  });

  it("keep what they send for a client that comes back, even if it was the only one there", async () => {
    const [ada, ben] = [await shard("two"), await shard("three")];
    const came = collect<unknown>(ada, "came");
    const gone = next(ada, "disconnect");
    ada.io.engine.close();
    await gone;
    const back = next(ada, "connect");
    ben.emit("all", "meanwhile");
    await back;
    ben.emit("all", "after");
    await expect.poll(() => came).toEqual(["meanwhile", "after"]);
    expect(ada.recovered).toBe(true);
  });
});

describe("an object with low limits", () => {
  const pathOf = (room: string): string => `/limited/rooms/${room}/socket.io`;
  const enter = async (room: string): Promise<Socket> => {
    const socket = open(server.url, { path: pathOf(room), reconnection: false });
    await next(socket, "connect");
    return socket;
  };
  /** @returns why the server refuses one more connection */
  async function refusalOf(roomOf: (tries: number) => string): Promise<string> {
    for (let tries = 0; tries < 50; tries++) {
      const answer = await fetch(`${server.url}${pathOf(roomOf(tries))}/?EIO=4&transport=polling`);
      const text = await answer.text();
      if (answer.status === 429) return text;
    }
    return "none";
  }

  it("refuses an address with too many connections, and with too many that have joined nothing in all objects", async () => {
    for (let at = 0; at < 3; at++) await enter("full");
    expect(await refusalOf(() => "full")).toContain("At most 3 connections from one address to one room");
    expect(await refusalOf((tries) => `room-${tries}`)).toContain(
      "At most 20 connections from one address that have joined",
    );
  });
});

describe("a server with options of its own", () => {
  const ask = (query: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${server.url}/strict/custom/?EIO=4&transport=polling&${query}`, init);

  async function begin(guest: string): Promise<{ opened: Response; handshake: { sid: string; upgrades: string[] } }> {
    const opened = await ask(`room=${guest}`, { headers: { "X-Guest": guest } });
    return { opened, handshake: JSON.parse((await opened.text()).slice(1)) as { sid: string; upgrades: string[] } };
  }

  it("gives sessions its ids, its cookie and its transports, once an asynchronous start is over", async () => {
    const { opened, handshake } = await begin("ada");
    expect(handshake).toMatchObject({ sid: "id of ada", upgrades: [], maxPayload: 1000 });
    expect(opened.headers.get("Set-Cookie")).toBe("sticky=id%20of%20ada; Max-Age=60; Path=/; HttpOnly; SameSite=Lax");
    expect(opened.headers.get("X-Each")).toBe("yes");
    const sid = encodeURIComponent(handshake.sid);
    expect(await (await ask(`room=ada&sid=${sid}`, { method: "POST", body: "40" })).text()).toBe("ok");
    const polled = await ask(`room=ada&sid=${sid}`);
    expect([polled.headers.get("Set-Cookie"), await polled.text()]).toEqual([
      null,
      expect.stringMatching(/^40\{"sid"/),
    ]);
  });

  it("refuses posts beyond its maxHttpBufferSize", async () => {
    const { handshake } = await begin("ben");
    const post = (body: string): Promise<Response> =>
      ask(`room=ben&sid=${encodeURIComponent(handshake.sid)}`, { method: "POST", body });
    expect((await post(`40${" ".repeat(0)}`)).status).toBe(200);
    expect((await post(`4${"x".repeat(1000)}`)).status).toBe(413);
  });

  it("closes a connection that joins no namespace in its connectTimeout", async () => {
    const { handshake } = await begin("cat");
    const polled = await ask(`room=cat&sid=${encodeURIComponent(handshake.sid)}`);
    const answer = await polled.text();
    // On a slow machine the poll itself may come too late.
    expect(polled.ok ? answer : JSON.parse(answer)).toEqual(
      polled.ok ? "1" : { code: 1, message: "Session ID unknown" },
    );
  });

  it("is not at another path", async () => {
    for (const wrong of ["/strict/socket.io/", "/custom/"])
      expect((await fetch(`${server.url}${wrong}?EIO=4&transport=polling`)).status).toBe(404);
  });
});

it("an interval that runs on when the last client has gone is named in the log, with its place", async () => {
  await server.prints(/"application\.interval".*100 ms runs on.*"at":\[.*at Socket/);
});

interface Sleeper {
  readonly socket: Socket;
  /** What it got, and the reasons of its ends. */
  readonly got: unknown[];
  readonly before: Record<string, unknown>;
}

/** A client of an object that sleeps; its server is folder engine's sleeping.ts. */
async function goToSleep(room: string, name: string, options: Options = {}): Promise<Sleeper> {
  const path = `/sleeping/rooms/${room}/socket.io`;
  const socket = open(server.url, { path, auth: { name }, extraHeaders: { "X-Own": name }, ...options });
  await next(socket, "connect");
  const got: unknown[] = [];
  socket.onAny((...args: unknown[]) => got.push(args[0]));
  socket.on("disconnect", (reason) => got.push(reason));
  await asks(socket, "login", name);
  return { socket, got, before: await asks(socket, "state") };
}

/** @returns clients of objects that slept meanwhile, if nothing keeps them awake */
async function fallAsleep() {
  const clients = {
    ada: await goToSleep("plans", "ada"),
    ben: await goToSleep("plans", "ben"),
    closing: await goToSleep("closing", "cid"),
    witness: await goToSleep("closing", "dan"),
    polling: await goToSleep("polling", "eve", { transports: ["polling"] }),
    erasing: await goToSleep("erasing", "fay"),
  };
  await pause(SLEPT_MS);
  return clients;
}

describe("an object that sleeps while clients are connected", () => {
  it("wakes as if it had not: id, rooms, data, handshake and properties are there, nobody is greeted again", async () => {
    const { ada, ben } = await asleep;
    const [greeted, greetedBen] = [ada.got.length, ben.got.length];
    for (const { socket, before } of [ada, ben]) {
      const after = await asks<Record<string, unknown>>(socket, "state");
      expect(after).toEqual({ ...before, recovered: true, users: 2, clients: 2, instance: after["instance"] });
      expect(after["instance"]).not.toBe(before["instance"]);
    }
    ben.socket.emit("say", "lobby", "hello");
    await expect.poll(() => ada.got.slice(greeted)).toEqual(["said"]);
    const again = ben.got.slice(greetedBen).filter((what) => what === "welcome");
    expect([ada.socket.connected, again]).toEqual([true, []]);
  });

  it("that a closed connection wakes: the other clients get the event", async () => {
    const { closing, witness } = await asleep;
    closing.socket.disconnect();
    await expect.poll(() => witness.got.slice(-1)).toEqual(["left"]);
    expect((await asks<{ instance: string }>(witness.socket, "state")).instance).not.toBe(witness.before["instance"]);
  });

  it("does not sleep while a client polls", async () => {
    const { socket, before } = (await asleep).polling;
    expect((await asks<{ instance: string }>(socket, "state")).instance).toBe(before["instance"]);
  });

  it("takes the extensions of a client that keeps its heartbeat itself; one that is awake does not", async () => {
    const answerOf = async (path: string, event: string): Promise<string> => {
      const query = "EIO=4&transport=websocket&parley-ext=1";
      const socket = new WebSocket(`${server.url.replace("http", "ws")}${path}/rooms/extended/socket.io/?${query}`);
      const frames: string[] = [];
      socket.addEventListener("message", ({ data }) => frames.push(String(data)));
      await new Promise((resolve) => socket.addEventListener("open", resolve));
      socket.send("40");
      await expect.poll(() => frames.some((frame) => frame.startsWith("40"))).toBe(true);
      // Two packets in a frame: for others the second one is a part of the first, which nobody can read.
      socket.send(`42["nothing"]\x1e421${JSON.stringify([event])}`);
      const end = new Promise<string>((resolve) => socket.addEventListener("close", () => resolve("closed")));
      const answer = expect.poll(() => frames.some((frame) => frame.startsWith("431"))).toBe(true);
      return Promise.race([answer.then(() => "answered"), end]).finally(() => socket.close());
    };
    expect(await answerOf("/sleeping", "state")).toBe("answered");
    expect(await answerOf("/recovering", "state")).toBe("closed");
  });

  it("may erase itself: its clients come back as new ones", async () => {
    const { socket } = (await asleep).erasing;
    const { id } = socket;
    const back = next(socket, "connect");
    socket.emit("erase");
    await back;
    expect([socket.recovered, socket.id === id]).toEqual([false, false]);
  });
});
