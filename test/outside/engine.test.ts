// Stock clients of a server of the package socket.io, unchanged: on Node, and in an object by `parley-rooms/engine`. What holds on Node holds
// in the object.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { Server } from "socket.io";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { bundleEngineWorker } from "./engine-worker.ts";
import { register } from "./engine/application.ts";
import { startServer } from "./servers.ts";
import { asks, collect, next, open, type Options } from "./stock-clients.ts";
import type { Socket } from "socket.io-client";

/** As in engine/worker.ts. */
const OPTIONS = { pingInterval: 1000, pingTimeout: 5000, cors: { origin: "https://page.example" } };

interface Host {
  readonly url: string;
  /** On a slow machine Node may find the line broken before it has heard that the client closes it. */
  readonly mayBreak?: true;
  stop(): Promise<unknown>;
}

async function startNode(): Promise<Host> {
  const http = createServer();
  const io = new Server(http, OPTIONS);
  register(io);
  await new Promise<void>((resolve) => {
    http.listen(0, "127.0.0.1", resolve);
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, mayBreak: true, stop: () => io.close() };
}

const HOSTS: Array<[name: string, start: () => Promise<Host>]> = [
  ["on Node", startNode],
  ["in an object", async () => startServer({ deploymentFile: await bundleEngineWorker({ isSmall: true }) })],
];

type Transports = NonNullable<Options["transports"]>;
const TRANSPORTS: ReadonlyArray<[name: string, transports: Transports]> = [
  ["WebSocket", ["websocket"]],
  ["long-polling", ["polling"]],
];
const UPGRADING: [name: string, transports: Transports] = ["long-polling that upgrades", ["polling", "websocket"]];

let names = 0;

describe.each(HOSTS)("%s", (_host, start) => {
  let host: Host;
  beforeAll(async () => {
    host = await start();
  });
  afterAll(() => host.stop());

  /** A client that has a name of its own. */
  async function enter(transports: Transports, options: Options = {}): Promise<Client> {
    const name = `client-${++names}`;
    const socket = open(host.url, { transports, ...options, query: { name, ...options.query } });
    await next(socket, "connect");
    if (transports.length > 1 && socket.io.engine.transport.name === "polling")
      await new Promise((resolve) => void socket.io.engine.once("upgrade", resolve));
    return { name, socket };
  }

  const endsOf = async (name: string): Promise<string[]> => {
    const { socket } = await enter(["websocket"]);
    const ends = await asks<string[]>(socket, "ends", name);
    socket.disconnect();
    return ends;
  };

  it.each([...TRANSPORTS, UPGRADING])(
    "a client over %s is described by its handshake, with the headers, the query and the auth that it sent",
    async (_name, transports) => {
      const { name, socket } = await enter(transports, {
        auth: { token: "t" },
        query: { color: "teal & blue", token: "in the query" },
        extraHeaders: { "X-Custom": "yes", Authorization: "Bearer of good news" },
      });
      const facts = await asks<Record<string, unknown>>(socket, "facts");
      expect(facts).toMatchObject({
        transport: transports.at(-1),
        auth: { token: "t" },
        query: { name, color: "teal & blue", token: "in the query", EIO: "4", transport: transports[0] },
        headers: { "x-custom": "yes", authorization: "Bearer of good news", host: host.url.slice("http://".length) },
        url: expect.stringMatching(/^\/socket\.io\/\?(?=.*color=teal%20%26%20blue)/),
        secure: false,
        xdomain: false,
      });
      expect(facts["headers"]).not.toHaveProperty("x-parley-upgrade");
    },
  );

  it("a client that upgrades gets a burst of events whole and in order, and ends with the server's words", async () => {
    const { name, socket } = await enter(UPGRADING[1], { reconnection: false });
    const came = collect<number>(socket, "came");
    socket.emit("many", 300);
    await asks(socket, "echo", 1);
    await expect.poll(() => came.length).toBe(300);
    expect(came).toEqual(Array.from({ length: 300 }, (_, at) => at));
    const disconnected = next(socket, "disconnect");
    socket.emit("leave me", "conn.close()");
    expect(await disconnected).toBe("transport close");
    await expect.poll(() => endsOf(name)).toContain("socket: forced close");
  });

  describe.each(TRANSPORTS)("a client over %s", (_name, transports) => {
    it("gets back what it sent, bytes as bytes, which are Buffers to the server", async () => {
      const { socket } = await enter(transports);
      const sent = { text: "é 🎈", list: [1, null, { deep: Buffer.from([0, 255]) }], bytes: Buffer.from("bytes") };
      expect(await asks(socket, "echo", sent)).toEqual(sent);
      expect(await asks(socket, "isBuffer", Buffer.from("x"))).toBe(true);
    });

    it("gets a burst of events whole and in order", async () => {
      const { socket } = await enter(transports);
      const came = collect<number>(socket, "came");
      socket.emit("many", 300);
      await asks(socket, "echo", 1);
      await expect.poll(() => came.length).toBe(300);
      expect(came).toEqual(Array.from({ length: 300 }, (_, at) => at));
    });

    it("gets an event of more than a megabyte, and stays connected", async () => {
      const { socket } = await enter(transports);
      const came = next<string>(socket, "came");
      socket.emit("document", 1_200_000);
      expect(await came).toHaveLength(1_200_000);
      expect(await asks(socket, "echo", "still there")).toBe("still there");
    });

    it("is refused by a middleware, which says why", async () => {
      const socket = open(host.url, { transports, auth: { token: "forged" } });
      expect(await next(socket, "connect_error")).toMatchObject({ message: "not you", data: { reason: "forged" } });
    });

    it("joins namespaces by pattern on the same connection, and none that does not exist", async () => {
      const { socket } = await enter(transports);
      const [room, none] = [socket.io.socket("/room-one"), socket.io.socket("/none")];
      const refused = next(none, "connect_error");
      expect(await next(room, "welcome")).toBe("/room-one");
      const said = next(room, "said");
      room.emit("say", "hello");
      expect(await said).toBe("hello");
      expect(await refused).toMatchObject({ message: "Invalid namespace" });
      expect(socket.connected).toBe(true);
    });

    it("hears what others send to a room that it is in, not what it sends itself", async () => {
      const [ada, ben] = [await enter(transports), await enter(["websocket"])];
      const room = `of ${ada.name}`;
      await asks(ada.socket, "join", room);
      await asks(ben.socket, "join", room);
      const came = collect(ada.socket, "came");
      ada.socket.emit("to", room, "mine");
      ben.socket.emit("to", room, { bytes: Buffer.from("theirs") });
      await expect.poll(() => came).toEqual([{ bytes: Buffer.from("theirs") }]);
    });

    it("is among the sockets of the server, which asks it and others", async () => {
      const [ada, ben] = [await enter(transports), await enter(["websocket"])];
      const room = `asked with ${ada.name}`;
      for (const { name, socket } of [ada, ben]) {
        socket.on("question", (what: string, answer: (text: string) => void) => answer(`${what} ${name}`));
        await asks(socket, "join", room);
        expect(await asks(socket, "sockets")).toContain(socket.id);
      }
      expect(await asks<string[]>(ben.socket, "ask", room, "I am")).toEqual(
        expect.arrayContaining([`I am ${ada.name}`, `I am ${ben.name}`]),
      );
    });

    it("that never answers is given up after the time for that", async () => {
      const { socket } = await enter(transports);
      expect(await asks(socket, "wait for me")).toBe("operation has timed out");
    });

    it("is pinged and answers, which the server sees as packets", async () => {
      const { socket } = await enter(transports);
      await asks(socket, "packets");
      let packets: string[] = [];
      const heartbeats = async (): Promise<string[]> => {
        packets = await asks<string[]>(socket, "packets");
        // The server may have begun to write them down between a ping and its pong.
        const ping = packets.indexOf("packetCreate ping");
        return ping < 0 ? [] : packets.slice(ping).filter((packet) => /ping|pong|heartbeat/.test(packet));
      };
      await expect
        .poll(async () => (await heartbeats()).slice(0, 3))
        .toEqual(["packetCreate ping", "packet pong", "heartbeat"]);
      expect(packets).toEqual(expect.arrayContaining(["packet message", "packetCreate message", "flush", "drain"]));
    });

    const ENDS: Array<[how: string, end: (client: Client) => unknown, ends: string[], client: string]> = [
      [
        "it disconnects its socket",
        ({ socket }) => socket.disconnect(),
        ["client namespace disconnect"],
        "io client disconnect",
      ],
      ["it closes its connection", ({ socket }) => void socket.io.engine.close(), ["transport close"], "forced close"],
      [
        "the server disconnects its socket",
        leave("socket.disconnect()"),
        ["server namespace disconnect"],
        "io server disconnect",
      ],
      [
        "the server disconnects it",
        leave("socket.disconnect(true)"),
        ["server namespace disconnect"],
        "io server disconnect",
      ],
      [
        "the server disconnects all",
        leave("io.disconnectSockets(true)"),
        ["server namespace disconnect"],
        "io server disconnect",
      ],
      ["the server closes the connection", leave("conn.close()"), ["forced close"], "transport close"],
    ];
    it.each(ENDS)("ends with the same words when %s", async (_how, end, ends, reason) => {
      const client = await enter(transports, { reconnection: false });
      const heard = collect(client.socket, "last words");
      const disconnected = next(client.socket, "disconnect");
      await end(client);
      expect(await disconnected).toBe(reason);
      if (reason !== "io client disconnect" && reason !== "forced close") expect(heard).toHaveLength(1);
      const words = async (): Promise<string[]> =>
        (await endsOf(client.name)).map((line) =>
          host.mayBreak ? line.replace("transport error", "transport close") : line,
        );
      await expect
        .poll(async () => (await words()).filter((line) => line.startsWith("socket: ")))
        .toEqual(ends.map((line) => `socket: ${line}`));
    });
  });

  it("a volatile event is dropped while the one before is on its way", async () => {
    const { socket } = await enter(["websocket"]);
    const came = collect(socket, "came");
    socket.emit("volatile", 5);
    await next(socket, "over");
    expect(came).toEqual([0]);
  });

  it("an upgrade is told to the application, with the new transport", async () => {
    const { name } = await enter(["polling", "websocket"]);
    expect(await endsOf(name)).toEqual(["upgrade: websocket"]);
  });

  it("counts its clients", async () => {
    const before = await enter(["websocket"]);
    const count = await asks<number>(before.socket, "clients");
    const more = [await enter(["polling"]), await enter(["websocket"])];
    expect(await asks(before.socket, "clients")).toBe(count + 2);
    for (const { socket } of more) socket.disconnect();
    await expect.poll(() => asks(before.socket, "clients")).toBe(count);
  });

  describe("requests over HTTP", () => {
    const ask = (query: string, init: RequestInit = {}): Promise<Response> =>
      fetch(`${host.url}/socket.io/?EIO=4&transport=polling&${query}`, init);

    it("get the headers that listeners add: some with the first answer, some with each", async () => {
      const first = await ask("color=teal");
      expect([first.headers.get("X-First"), first.headers.get("X-Each")]).toEqual(["teal", "yes"]);
      const { sid } = JSON.parse((await first.text()).slice(1)) as { sid: string };
      const posted = await ask(`sid=${sid}`, { method: "POST", body: "40" });
      expect([posted.status, await posted.text()]).toEqual([200, "ok"]);
      const second = await ask(`sid=${sid}`);
      expect([second.headers.get("X-First"), second.headers.get("X-Each")]).toEqual([null, "yes"]);
      await second.text();
      await (await ask(`sid=${sid}`, { method: "POST", body: "1" })).text();
    });

    it("of pages are answered as the server's `cors` says", async () => {
      const Origin = "https://page.example";
      const preflight = await ask("", {
        method: "OPTIONS",
        headers: { Origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-custom" },
      });
      expect([preflight.status, preflight.headers.get("Access-Control-Allow-Origin")]).toEqual([204, Origin]);
      expect(preflight.headers.get("Access-Control-Allow-Headers")).toBe("x-custom");
      const answer = await ask("", { headers: { Origin: "https://other.example" } });
      expect([answer.status, answer.headers.get("Access-Control-Allow-Origin")]).toEqual([200, Origin]);
      await answer.text();
    });

    it("get the handshake of a connection that the application closes at once", async () => {
      const answer = await fetch(`${host.url}/socket.io/?EIO=4&transport=polling&unwanted=1`);
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringMatching(/^0\{"sid"/)]);
    });

    it("that name an unknown session are refused, and told to the application", async () => {
      const refused = await ask("sid=nobody");
      expect([refused.status, await refused.json()]).toEqual([400, { code: 1, message: "Session ID unknown" }]);
      const { socket } = await enter(["websocket"]);
      expect(await asks(socket, "errors")).toContainEqual({
        code: 1,
        message: "Session ID unknown",
        context: { sid: "nobody" },
      });
    });

    it("over long-polling of a session that has upgraded are refused, and told to the application", async () => {
      const { socket } = await enter(["polling", "websocket"]);
      const refused = await ask(`sid=${socket.io.engine.id}`);
      expect([refused.status, await refused.json()]).toEqual([400, { code: 3, message: "Bad request" }]);
      expect(await asks(socket, "errors")).toContainEqual({
        code: 3,
        message: "Bad request",
        context: { name: "TRANSPORT_MISMATCH", transport: "polling", previousTransport: "websocket" },
      });
    });
  });

  describe("a client that breaks the protocol", () => {
    it.each([
      ["with a frame that is no packet", "nonsense", "parse error"],
      ["with a packet that is none of Socket.IO's", "4nonsense", "forced close"],
      ["with a frame beyond maxHttpBufferSize", `4${"x".repeat(1_000_001)}`, "transport error"],
    ])("%s ends, and the application hears why", async (_how, frame, reason) => {
      const { name, socket } = await enter(["websocket"], { reconnection: false });
      const ended = next(socket, "disconnect");
      (socket.io.engine.transport as unknown as { ws: WebSocket }).ws.send(frame);
      await ended;
      await expect.poll(() => endsOf(name)).toContain(`socket: ${reason}`);
    });

    it("by silence is gone after pingInterval and pingTimeout, and two seconds at most", async () => {
      const ws = new WebSocket(`${host.url.replace("http", "ws")}/socket.io/?EIO=4&transport=websocket&name=silent`);
      const atMs = await new Promise<number>((resolve) => {
        ws.addEventListener("message", ({ data }) => {
          if (String(data).startsWith("0")) ws.send("40");
          if (String(data).startsWith("40")) resolve(performance.now());
        });
      });
      await new Promise((resolve) => ws.addEventListener("close", resolve));
      expect(performance.now() - atMs).toBeGreaterThan(OPTIONS.pingTimeout);
      expect(await endsOf("silent")).toEqual(["socket: ping timeout", "conn: ping timeout"]);
    });
  });
});

interface Client {
  readonly name: string;
  readonly socket: Socket;
}

const leave =
  (how: string) =>
  ({ socket }: Client): void =>
    void socket.emit("leave me", how);
