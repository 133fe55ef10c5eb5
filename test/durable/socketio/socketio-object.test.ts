// SocketIoObject: its start, options, calls by RPC, timers, sleep, the query of its clients, and the mistakes that it names.
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi, type MockInstance } from "vitest";

import * as kit from "../../kit/testing.ts";
import { PacketType } from "../../wire/wire-client.ts";
import { request, textOf } from "../poller.ts";
import { RawClient, upgrade } from "../raw-client.ts";
import { serving } from "./worker.ts";

let log: MockInstance;
beforeEach(() => void (log = vi.spyOn(console, "error").mockImplementation(() => undefined)));
afterEach(() => vi.restoreAllMocks());

let rooms = 0;
const freshRoom = (): string => `object-${++rooms}`;

const sketches = serving(env.SKETCH);
const pitches = serving(env.PITCH);

async function enter(room: string, fetcher = sketches): Promise<RawClient> {
  const client = await RawClient.open({ room, fetcher });
  await client.connect();
  return client;
}

async function kill(stub: DurableObjectStub): Promise<void> {
  const died = runInDurableObject(stub, (_instance, state) => state.abort("died in a test"));
  await expect(died).rejects.toThrow("died in a test");
}

const drawn = (client: RawClient): unknown[] => client.heard("draw").map(([line]) => line);

describe("the smallest application", () => {
  it("has the heartbeat and limits of Socket.IO", async () => {
    const client = await RawClient.open({ room: freshRoom(), fetcher: sketches });
    expect(client.handshake).toMatchObject({ pingInterval: 25_000, pingTimeout: 20_000, maxPayload: 1_000_000 });
  });

  it("sends the lines of a turn as one event to a client that bundles, also after it slept: BUN-1, BUN-3", async () => {
    const room = freshRoom();
    const ada = await RawClient.open({ room, fetcher: sketches, query: { "parley-ext": "1" } });
    await ada.connect();
    const byQuery = await RawClient.open({ room, fetcher: sketches, query: { bundle: "1" } });
    await byQuery.connect();
    const byAuth = await RawClient.open({ room, fetcher: sketches });
    await byAuth.connect({ bundle: true });
    const plain = await enter(room);
    for (const sleeps of [0, 1]) {
      if (sleeps > 0) await evictDurableObject(env.SKETCH.getByName(room), { webSockets: "hibernate" });
      ada.send('42["draw",1]\x1e42["draw",2]');
      for (const client of [byQuery, byAuth]) {
        await client.receives("bundle", sleeps + 1);
        expect(client.frames.at(-1)).toBe('42["bundle",[["draw",1],["draw",2]]]');
      }
      await plain.receives("draw", 2 * (sleeps + 1));
    }
    expect(drawn(plain)).toEqual([1, 2, 1, 2]);
  });

  it("answers in order, and closes after its answers, also a client that speaks before it heard the handshake", async () => {
    const { webSocket } = await upgrade({ room: freshRoom(), fetcher: sketches });
    const client = RawClient.over(webSocket!);
    client.send("40");
    client.send("not a packet");
    await client.closes();
    expect(client.texts.map((frame) => frame.slice(0, 7))).toEqual(['0{"sid"', '40{"sid']);
  });

  it("recovers nothing, and sends no offset to clients that know recovery", async () => {
    const client = await RawClient.open({ room: freshRoom(), fetcher: sketches, query: { recovery: "on" } });
    await client.connect();
    expect(client.accepted()).toEqual({ sid: expect.any(String) });
  });

  it("emits from a call by RPC, which wakes it, and answers one before any client is there", async () => {
    const room = freshRoom();
    const stub = env.SKETCH.getByName(room);
    expect(await stub.sockets()).toBe(0);
    const ada = await enter(room);
    await evictDurableObject(stub, { webSockets: "hibernate" });
    await stub.draw("by RPC");
    await ada.until("the line", () => drawn(ada)[0]);
    expect(await stub.sockets()).toBe(1);
  });
});

describe("mistakes of an application", () => {
  it("a handler that throws is logged, and ends no connection", async () => {
    const room = freshRoom();
    const [ada, ben] = [await enter(room), await enter(room)];
    ada.emit("fail later");
    expect(await ada.ask("whoami")).toMatchObject({ user: null });
    expect(await ben.ask("whoami")).toMatchObject({ user: null });
    expect(String(log.mock.calls)).toContain("a mistake");
  });

  const named: Array<[room: string, error: string]> = [
    ["bare", 'MistakenObject: namespaces: "" is no Namespace with handlers, as { "/": new Board() }'],
    ["slashless", 'namespaces: "board" is no Namespace with handlers'],
    ["plain", 'namespaces: "/" is no Namespace with handlers'],
    ["handlerless", 'namespaces: "/" is no Namespace with handlers'],
    ["hasty", "Hasty: this.ctx is there from onStart on, not in the constructor or a field"],
    ["hiding", '"alarm" hides a method of its base class'],
    ["option", 'options: there is no option "pingIntervall"; there are pingInterval, '],
    ["range", "options.pingTimeout: must be a whole number from 1 to "],
    ["sum", "options.pingInterval: must be a whole number from 1 to 1073741823, not 1073741824"],
    ["pigeon", "options.transports: must list polling, websocket or both"],
    ["empty", "verify: must be a function"],
    ["fixed", "verify: must be a function"],
  ];

  it.each(named)("%s: the error names it", async (room, error) => {
    await expect(upgrade({ room, fetcher: serving(env.MISTAKEN) })).rejects.toThrow(error);
  });

  it("a namespace that two objects share: the second one says where to make it", async () => {
    const fetcher = serving(env.MISTAKEN);
    expect((await upgrade({ room: "shared-1", fetcher })).status).toBe(101);
    await expect(upgrade({ room: "shared-2", fetcher })).rejects.toThrow("this namespace already serves an object");
  });
});

describe("ctx and env", () => {
  it("are those of the object, in its namespaces and in those made on demand", async () => {
    const room = freshRoom();
    const ada = await enter(room, pitches);
    expect(await ada.ask("where")).toBe(room);
    expect(ada.frames.at(-1)).toContain('"development"');
    const ben = await enter(room);
    await ben.enter("/pitch-2");
    ben.send('42/pitch-2,7["where"]');
    await ben.until("the answer", () => ben.frames.includes(`43/pitch-2,7["${room}","development"]`) || undefined);
  });
});

describe("bytes of a client", () => {
  afterEach(() => void vi.unstubAllGlobals());
  const header = '451-7["read",{"_placeholder":true,"num":0}]';
  const hi = new Uint8Array([104, 105]);

  it("are a Buffer for handlers where the flag nodejs_compat gives one, also half received through sleep", async () => {
    const room = freshRoom();
    const ada = await enter(room, pitches);
    ada.send(header);
    ada.send(hi);
    await ada.until("the answer", () => ada.frames.includes('437["Buffer","hi"]') || undefined);
    ada.send(header);
    await kit.evict(env.PITCH.getByName(room), "hibernate");
    ada.send(hi);
    await ada.until("both answers", () => ada.frames.filter((frame) => frame === '437["Buffer","hi"]')[1]);
  });

  it("are a Uint8Array without it", async () => {
    vi.stubGlobal("Buffer", undefined);
    const ada = await enter(freshRoom(), pitches);
    ada.send(header);
    ada.send(hi);
    await ada.until("the answer", () => ada.frames.includes('437["Uint8Array","104,105"]') || undefined);
  });
});

describe("prepare", () => {
  it("is done before the first event, on each way that one can come", async () => {
    const room = freshRoom();
    expect(await env.PITCH.getByName(room).begin(1)).toBe(true);
    const ada = await enter(freshRoom(), pitches);
    expect(ada.accepted()).toMatchObject({ sid: expect.any(String) });
  });

  it("that fails, fails the event; the next one makes a new instance", async () => {
    const room = freshRoom();
    const stub = env.PITCH.getByName(room);
    await runInDurableObject(stub, (_instance, { storage }) => storage.put("open", false));
    await evictDurableObject(stub);
    for (let tries = 0; tries < 2; tries++)
      await expect(upgrade({ room, fetcher: pitches })).rejects.toThrow("the pitch is closed");
  });
});

describe("options", () => {
  it("go to clients, and hold", async () => {
    const room = freshRoom();
    const ada = await enter(room, pitches);
    expect(ada.handshake).toMatchObject({ pingInterval: 900, pingTimeout: 30_000, maxPayload: 1000 });
    await ada.until("a ping", () => ada.pings || undefined);
    ada.emit("read", "x".repeat(1000));
    expect(await ada.closes()).toMatchObject({ code: 1009 });
  });

  it("transports: one that is not listed is refused in Engine.IO's own form, also as an upgrade", async () => {
    const fetcher = serving(env.MISTAKEN);
    const unknown = { status: 400, body: JSON.stringify({ code: 0, message: "Transport unknown" }) };
    expect(await textOf(request({ room: "unpolled", fetcher }))).toEqual(unknown);
    expect((await upgrade({ room: "unpolled", fetcher })).status).toBe(101);
    expect(await textOf(upgrade({ room: "polled", fetcher }))).toEqual(unknown);
    const { body } = await textOf(request({ room: "polled", fetcher }));
    const { sid, upgrades } = JSON.parse(body.slice(1)) as { sid: string; upgrades: string[] };
    expect(upgrades).toEqual([]);
    expect(await textOf(upgrade({ room: "polled", fetcher, query: { sid } }))).toEqual(unknown);
    await textOf(request({ room: "polled", sid, fetcher, method: "POST", body: "40" }));
    expect((await textOf(request({ room: "polled", sid, fetcher }))).body).toMatch(/^40/);
  });

  it("maxConnectionsPerIp: one address gets so many, others as many", async () => {
    const fetcher = serving(env.MISTAKEN);
    const statusFrom = async (address: string): Promise<number> =>
      (await upgrade({ room: "crowded", fetcher, headers: { "CF-Connecting-IP": address } })).status;
    expect([await statusFrom("192.0.2.1"), await statusFrom("192.0.2.1")]).toEqual([101, 101]);
    expect([await statusFrom("192.0.2.1"), await statusFrom("192.0.2.2")]).toEqual([429, 101]);
  });
});

describe("timers", () => {
  const places = (client: RawClient): unknown[] => client.heard("ball").map(([place]) => place);

  it("go on with the stored data, after the object died in between", async () => {
    const room = freshRoom();
    const ada = await enter(room, pitches);
    await ada.ask("kick", 30);
    await ada.until("a tick", () => places(ada)[1]);
    await kill(env.PITCH.getByName(room));
    const back = await enter(room, pitches);
    await back.until("the end", () => places(back).includes(30) || undefined);
    const seen = places(back) as number[];
    expect(seen).toEqual(Array.from({ length: seen.length }, (_, at) => 31 - seen.length + at));
  });

  it("are begun by a call of another object, without any client", async () => {
    const room = freshRoom();
    const stub = env.PITCH.getByName(room);
    await stub.begin(3);
    await vi.waitFor(async () =>
      expect(await runInDurableObject(stub, (_instance, { storage }) => storage.get("place"))).toBe(3),
    );
  });
});

describe("erase", () => {
  it("closes all connections, deletes the stored data, and starts the namespaces again", async () => {
    const room = freshRoom();
    const stub = env.PITCH.getByName(room);
    const ada = await enter(room, pitches);
    await ada.ask("kick", 1);
    await ada.until("a tick", () => ada.heard("ball")[0]);
    expect(await stub.restart()).toEqual([0, 0]);
    expect(await ada.closes()).toEqual({ code: 1012, reason: "service restart" });
    expect(await runInDurableObject(stub, async (_instance, { storage }) => (await storage.list()).size)).toBe(0);
    const ben = await enter(room, pitches);
    await ben.ask("kick", 1);
    expect((await ben.receivesPacket(PacketType.EVENT)).data).toEqual(["ball", 1]);
  });
});

describe("the application's query", () => {
  const jwt = "e".repeat(2100);
  const queries: Array<Record<string, string>> = [
    { key: "k".repeat(8000) },
    { ext: "1", token: "mine", recovery: "2026", watch: "1", bundle: "no", room: "other", t: "now" },
    { token: jwt },
    { name: "Åse 你好", __proto__x: "1", constructor: "x" },
  ];

  it.each(queries)("reaches the object as it is, over both transports", async (query) => {
    const fetcher = serving(env.SKETCH);
    const room = freshRoom();
    const ada = await RawClient.open({ room, fetcher, query });
    // A plain session gets each packet in a frame of its own.
    await ada.connect();
    expect(await ada.ask("whoami")).toMatchObject({ query });
    await kit.evict(env.SKETCH.getByName(room), "hibernate");
    expect(await ada.ask("whoami")).toMatchObject({ query });
    const { body } = await textOf(request({ room, fetcher, query }));
    const { sid } = JSON.parse(body.slice(1)) as { sid: string };
    await textOf(request({ room, sid, fetcher, query, method: "POST", body: '40\u001e420["whoami"]' }));
    expect((await textOf(request({ room, sid, fetcher, query }))).body).toContain(JSON.stringify(query).slice(1, -1));
  });

  it("that is too long is refused where the client can read it, over both transports", async () => {
    const fetcher = serving(env.SKETCH);
    const many = Object.fromEntries(Array.from({ length: 1900 }, (_, at) => [at.toString(36).padStart(3, "k"), ""]));
    const long = [{ key: "k".repeat(8193) }, { key: "k".repeat(20_000) }, { key: `${"k".repeat(8000)}你` }, many];
    for (const query of long as ReadonlyArray<Record<string, string>>) {
      const room = freshRoom();
      const refused = { message: "Bad request: the query is too long", data: { code: "TOO_LONG" } };
      const ada = await RawClient.open({ room, fetcher, query });
      await expect(ada.connect()).rejects.toMatchObject(refused);
      const { body } = await textOf(request({ room, fetcher, query }));
      const { sid } = JSON.parse(body.slice(1)) as { sid: string };
      await textOf(request({ room, sid, fetcher, query, method: "POST", body: "40" }));
      expect((await textOf(request({ room, sid, fetcher, query }))).body).toBe(`44${JSON.stringify(refused)}`);
    }
  });

  it("has one name of the server's own, which asks for the extensions", async () => {
    const fetcher = serving(env.SKETCH);
    const ada = await RawClient.open({ room: freshRoom(), fetcher, query: { "parley-ext": "1" } });
    ada.send('40\u001e420["whoami"]');
    await expect
      .poll(() => ada.frames.some((frame) => typeof frame === "string" && frame.includes("\u001e430[")))
      .toBe(true);
  });
});
