// Tests of several objects that are one server: that socket.io's functions reach all of them, as with its adapter on Node; that objects without
// clients are left asleep; and what a sibling that fails or is slow does to the others.
import type { Server, Socket } from "socket.io";
import { ClusterAdapter } from "socket.io-adapter";
import { afterEach, describe, expect, it, vi } from "vitest";

import { siblings } from "../../src/stock/sibling-adapter.ts";
import { AGAIN_MS, CALL_MS, QUEUE_BYTES_MAX, type CallSibling } from "../../src/stock/sibling-link.ts";
import { nodeGroup, Sibling, siblingGroup, type Group } from "./host/group.ts";
import { settle } from "./host/stock-object.ts";

/** What servers heard from each other. */
const heard: Array<[number: number, what: Uint8Array | string]> = [];

function register(io: Server): void {
  const answer = (socket: Socket): void => void socket.on("join", (room: string) => socket.join(room));
  io.on("connection", (socket) => {
    answer(socket);
    socket.data = { name: socket.id, bytes: new Uint8Array([1, 2]) };
  });
  io.of(/^\/made-\w+$/).on("connection", (socket) => {
    answer(socket);
    socket.nsp.on("question", (done: (answer: string) => void) => done("made"));
  });
  io.on("news", (...args: [number, Uint8Array | string]) => void heard.push(args));
  io.on("question", (what: string, done: (answer: string) => void) => done(`${what}!`));
}

let close = (): void => {};
afterEach(() => {
  close();
  vi.useRealTimers();
  heard.length = 0;
});

const GROUPS: ReadonlyArray<[name: string, make: (count: number) => Group | Promise<Group>]> = [
  ["servers on Node, with socket.io's adapter with heartbeats", (count) => nodeGroup(count, register)],
  ["objects that are siblings", (count) => siblingGroup(count, register)],
];

describe.each(GROUPS)("%s", (_name, make) => {
  /** One client for each of three members; the first of them emits. */
  async function meet(nsp?: string) {
    const group = await make(3);
    close = () => group.close();
    const clients = [];
    for (const member of group.members) clients.push(await member.enter(nsp));
    const { io } = group.members[0]!.object;
    return { group, io, clients };
  }

  it("an event to all reaches the clients of all, bytes as bytes and other values as clients get them", async () => {
    const { io, clients } = await meet();
    io.emit("news", { at: new Date(0), none: undefined, bytes: Buffer.from([0, 255]) }, new Uint8Array([7]).buffer);
    await settle();
    const expected = [["news", { at: "1970-01-01T00:00:00.000Z", bytes: Buffer.from([0, 255]) }, Buffer.from([7])]];
    expect(clients.map(({ events }) => events)).toEqual([expected, expected, expected]);
  });

  it("events come in the order in which they were sent", async () => {
    const { io, clients } = await meet();
    for (let at = 0; at < 100; at++) {
      io.emit("news", at);
      if (at % 10 === 0) await settle();
    }
    await settle();
    for (const { events } of clients)
      expect(events.map(([, at]) => at)).toEqual(Array.from({ length: 100 }, (_, at) => at));
  });

  it("an event to rooms reaches who is in one of them, except those left out", async () => {
    const { io, clients } = await meet();
    clients[0]!.send('42["join","even"]');
    clients[1]!.send('42["join","odd"]');
    clients[2]!.send('42["join","even"]', '42["join","last"]');
    await settle();
    io.to("even").emit("one");
    io.to(["even", "odd"]).except("last").emit("two");
    io.to(clients[1]!.id).emit("three");
    await settle();
    io.local.emit("four");
    await settle();
    expect(clients.map(({ events }) => events.flat())).toEqual([["one", "two", "four"], ["two", "three"], ["one"]]);
  });

  it("sockets of all are found, with their data, moved between rooms and disconnected", async () => {
    const { io, clients } = await meet();
    const ids = clients.map(({ id }) => id).toSorted();
    const found = await io.fetchSockets();
    expect(found.map(({ id }) => id).toSorted()).toEqual(ids);
    for (const { id, data, rooms, handshake } of found) {
      expect([data.name, [...rooms], handshake.address]).toEqual([id, [id], "192.0.2.1"]);
      expect([...(data.bytes as Uint8Array)]).toEqual([1, 2]);
    }
    io.socketsJoin("moved");
    await settle();
    expect((await io.in("moved").fetchSockets()).length).toBe(3);
    io.in(ids[0]!).socketsLeave("moved");
    await settle();
    expect((await io.in("moved").fetchSockets()).map(({ id }) => id).toSorted()).toEqual(ids.slice(1));
    io.in("moved").disconnectSockets(true);
    await settle();
    expect((await io.fetchSockets()).map(({ id }) => id)).toEqual([ids[0]]);
    expect(
      clients
        .filter(({ closing }) => closing)
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(ids.slice(1));
  });

  it("the acks of the clients of all are gathered", async () => {
    const { io, clients } = await meet();
    const answers = io.timeout(5000).emitWithAck("question");
    await settle();
    clients.forEach((client, at) => {
      const packet = client.frames.at(-1) as string;
      client.send(packet.replace(/^42(\d+).*$/, (_all, id) => `43${id}["answer ${at}"]`));
    });
    expect((await answers).toSorted()).toEqual(["answer 0", "answer 1", "answer 2"]);
  });

  it("servers send each other events, and gather the answers", async () => {
    const { io } = await meet();
    io.serverSideEmit("news", 1, Buffer.from([9]));
    await settle();
    expect(heard.map(([number, bytes]) => [number, ...(bytes as Uint8Array)])).toEqual([
      [1, 9],
      [1, 9],
    ]);
    expect(await io.serverSideEmitWithAck("question", "really")).toEqual(["really!", "really!"]);
  });

  it("a namespace that one member alone has made on demand waits for no other", async () => {
    const { group, clients } = await meet();
    const alone = await group.members[0]!.enter("/made-alone");
    expect(clients.length).toBe(3);
    const nsp = group.members[0]!.object.io.of("/made-alone");
    expect((await nsp.fetchSockets()).map(({ id }) => id)).toEqual([alone.id]);
    expect(await nsp.serverSideEmitWithAck("question")).toEqual([]);
    const answers = nsp.timeout(5000).emitWithAck("question");
    await settle();
    alone.send((alone.frames.at(-1) as string).replace(/^42(.*?,)(\d+).*$/, '43$1$2["here"]'));
    expect(await answers).toEqual(["here"]);
  });
});

describe("siblings", () => {
  function meet(count = 3): Sibling[] {
    return siblingGroup(count, register).members;
  }
  const messagesOf = ({ calls }: Sibling): number => calls.reduce((sum, { messages }) => sum + messages.length, 0);

  it("are called once by the first client of an object, and never for events while they have no clients", async () => {
    const [a, b, c] = meet() as [Sibling, Sibling, Sibling];
    const ada = await a.enter();
    await a.enter();
    expect([b.calls.length, c.calls.length]).toEqual([1, 1]);
    for (let at = 0; at < 5; at++) {
      a.object.io.emit("news", at);
      await settle();
    }
    expect([messagesOf(b), messagesOf(c), ada.events.length]).toEqual([0, 0, 5]);
    const ben = await b.enter();
    a.object.io.emit("news", 5);
    await settle();
    expect([ben.events, messagesOf(c)]).toEqual([[["news", 5]], 0]);
    ben.leave();
    await settle();
    a.object.io.emit("news", 6);
    await settle();
    expect(messagesOf(b)).toBe(1);
  });

  it("know of the first client of an object before it is let in", async () => {
    const [a, b] = meet() as [Sibling, Sibling];
    await a.enter();
    await b.siblings.enter();
    const ben = b.object.open();
    ben.send("40");
    a.object.io.emit("news");
    await settle();
    expect(ben.events).toEqual([["news"]]);
  });

  it("hear from an object without clients, too, which asks who has some", async () => {
    const [a, b, c] = meet() as [Sibling, Sibling, Sibling];
    const ada = await a.enter();
    c.object.io.emit("news", 1);
    c.object.io.emit("news", 2);
    await settle();
    expect([ada.events.length, messagesOf(a), messagesOf(b)]).toEqual([2, 2, 0]);
    expect((await c.object.io.fetchSockets()).map(({ id }) => id)).toEqual([ada.id]);
  });

  it("get all events of one moment with one call, and those of the time of a call with the next", async () => {
    const [a, b] = meet(2) as [Sibling, Sibling];
    await a.enter();
    const ben = await b.enter();
    const before = b.calls.length;
    for (let at = 0; at < 50; at++) a.object.io.emit("news", at);
    await new Promise((resolve) => void setImmediate(resolve));
    for (let at = 50; at < 60; at++) a.object.io.emit("news", at);
    await settle();
    expect(ben.events.length).toBe(60);
    expect(b.calls.length - before).toBe(2);
  });

  describe("one of which fails", () => {
    it.each([
      ["at once", () => Promise.reject(new Error("overloaded"))],
      ["by never answering", () => new Promise<never>(() => {})],
    ])(
      "%s: the others go on, a request to it ends with an error, and it gets later messages",
      async (_how, trouble) => {
        const [a, b, c] = meet() as [Sibling, Sibling, Sibling];
        const [ada, ben] = [await a.enter(), await b.enter()];
        await c.enter();
        c.trouble = trouble;
        a.object.io.emit("news", 1);
        a.object.io.emit("news", 2);
        // Of the package: the answers that can come are there before it ends.
        vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
        const found = expect(a.object.io.timeout(20).fetchSockets()).rejects.toThrow(
          "timeout reached: only 1 responses received out of 2",
        );
        await settle();
        vi.advanceTimersByTime(20);
        await found;
        // The call that never ends, and the one after it.
        for (let calls = 0; calls < 2; calls++) {
          a.ring(CALL_MS);
          await settle();
        }
        expect([ada.events.length, ben.events.length]).toEqual([2, 2]);
        expect(a.object.problems).toEqual([
          expect.stringMatching(/^sibling object-2 failed, and misses messages: Error: /),
        ]);
        c.trouble = undefined;
        a.ring(AGAIN_MS);
        await settle();
        expect((await a.object.io.fetchSockets()).length).toBe(3);
        expect(a.object.problems.length).toBe(1);
      },
    );

    it("does not keep clients out", async () => {
      const [a, b] = meet(2) as [Sibling, Sibling];
      b.trouble = () => new Promise<never>(() => {});
      const entering = a.enter();
      await settle();
      a.ring(CALL_MS);
      expect((await entering).id).toEqual(expect.any(String));
    });

    it("takes no more memory than its queue may have", async () => {
      const [a, b] = meet(2) as [Sibling, Sibling];
      await a.enter();
      await b.enter();
      let answer = (): void => {};
      const slow = new Promise<void>((resolve) => (answer = resolve));
      const call = b.call.bind(b);
      b.call = async (given) => (await slow, call(given));
      const megabyte = "x".repeat(1024 * 1024);
      const count = 2 * (QUEUE_BYTES_MAX / megabyte.length);
      for (let at = 0; at < count; at++) a.object.io.serverSideEmit("news", at, megabyte);
      await settle();
      expect(a.object.problems).toEqual(["sibling object-1 is too slow, and misses messages: undefined"]);
      answer();
      await expect.poll(() => heard.length).toBe(count / 2 - 1);
      a.object.io.serverSideEmit("news", count, "again");
      await expect.poll(() => heard.at(-1)).toEqual([count, "again"]);
    });
  });

  it("refuse the call of an object that is not in their list", async () => {
    const [a] = meet(1) as [Sibling];
    const call = { from: "stranger", presence: { hasClients: true, atMs: 0 }, messages: [] };
    await expect(a.call(call)).rejects.toThrow("stranger is no sibling of object-0: their lists differ");
  });

  it("keep no client out if the list fails when a new way to one of them is asked for", async () => {
    let lists = 0;
    const list = (): Map<string, CallSibling> => {
      if (++lists > 1) throw new Error("no list");
      return new Map([["b", () => Promise.reject(new Error("dead"))]]);
    };
    const a = new Sibling("a", list, register);
    expect((await a.enter()).id).toEqual(expect.any(String));
    expect(a.object.problems.map((problem) => problem.split(",")[0])).toEqual([
      "sibling b failed",
      "the list of siblings failed: Error: no list",
    ]);
  });

  it("are named by stubs: a list of names is refused with a word about it", async () => {
    const ports = { now: () => 0, newId: () => "", report: () => {}, after: () => () => {} };
    const { siblings: group } = siblings(ClusterAdapter, () => ["a", "b"] as never)("a", ports);
    await expect(group.enter()).rejects.toThrow("the list must have stubs of objects");
  });

  it("an event that cannot be sent to others is reported, and reaches the clients of its own object", async () => {
    const [a, b] = meet(2) as [Sibling, Sibling];
    const ada = await a.enter();
    await b.enter();
    a.object.io.emit("news", { toJSON: () => "once" });
    a.object.io.serverSideEmit("news", 1n);
    await settle();
    expect(ada.events).toEqual([["news", "once"]]);
    expect(a.object.problems).toEqual([expect.stringContaining("a message cannot be sent to siblings: TypeError")]);
  });
});

it("a ClusterAdapter that an alias has left out is named", () => {
  expect(() => siblings(undefined as never, () => [])).toThrow("ClusterAdapter must be that of socket.io-adapter");
});
