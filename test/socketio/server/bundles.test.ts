// Clients that take the events of a turn as one event, over both transports: BUN-1 to BUN-3.
import { describe, expect, it, vi } from "vitest";

import { POLL_PACKETS_MAX } from "../../../src/socketio/engine/poll-queue.ts";
import type { Session } from "../../../src/socketio/engine/session.ts";
import { servedProbe } from "../../host/bare-server.ts";
import { hall, lastOffset, seen } from "../../host/big-room.ts";
import { FakeShell, START_MS, type Client } from "../../host/harness.ts";
import { MemoryRecoveryLog, RecoverableProbe } from "../../host/memory-recovery-log.ts";
import { Probe, probeShell, type ProbeParts } from "../../host/probe.ts";
import { unpacked } from "../../wire/unpacked.ts";

const BUNDLE = { bundle: true };

/** Each `say` of a client is a turn in which everyone gets three events. */
const SAYS: ProbeParts = {
  handlers: {
    say(_socket, ...texts) {
      for (const text of texts) this.emit("said", text);
    },
  },
};

const framesAfter = (client: Client, act: () => void): unknown[] => {
  const { length } = client.frames;
  act();
  return client.frames.slice(length);
};

describe("BUN-1: a client asks for bundles", () => {
  it("with its CONNECT, or with its handshake; the others in the room get each event by itself", async () => {
    const { shell } = probeShell(SAYS);
    const [byAuth, byQuery, plain] = [
      await shell.connect({}, BUNDLE),
      await shell.connect({ query: { bundle: "1" } }),
      await shell.connect(),
    ];
    for (const client of [byAuth, byQuery, plain]) client.frames.length = 0;
    plain.emit("say", "a", "b", "c");
    const bundle = '42["bundle",[["said","a"],["said","b"],["said","c"]]]';
    expect([byAuth.frames, byQuery.frames]).toEqual([[bundle], [bundle]]);
    expect(plain.frames).toEqual(['42["said","a"]', '42["said","b"]', '42["said","c"]']);
    plain.emit("say", "alone");
    expect(byAuth.frames.at(-1)).toBe('42["said","alone"]');
  });

  it.each([[{ bundle: false }], [{ bundle: "true" }], [{ bundle: 1 }], [{ bundle: { bundle: true } }], [undefined]])(
    "not with %j, nor with ?bundle=true",
    async (auth) => {
      const { shell } = probeShell(SAYS);
      const client = await shell.connect({ query: { bundle: "true" } }, auth);
      client.emit("say", "a", "b");
      expect(client.heard("said")).toEqual([["a"], ["b"]]);
    },
  );

  it("for one namespace, or with the handshake for all of them, each with bundles of its own", async () => {
    const inBoth = {
      handlers: { say: () => ["a", "b"].forEach((text) => main.emit("m", text) && other.emit("o", text)) },
    };
    const [main, other] = [new Probe(inBoth, []), new Probe(inBoth, [])];
    const shell = new FakeShell(() => ({ "/": main, "/other": other }));
    const one = await shell.connect({}, BUNDLE);
    await one.connect(undefined, "/other");
    const all = await shell.connect({ query: { bundle: "1" } });
    await all.connect({}, "/other");
    for (const client of [one, all]) client.frames.length = 0;
    one.emit("say");
    expect(one.frames).toEqual(['42["bundle",[["m","a"],["m","b"]]]', '42/other,["o","a"]', '42/other,["o","b"]']);
    expect(all.frames).toEqual(['42["bundle",[["m","a"],["m","b"]]]', '42/other,["bundle",[["o","a"],["o","b"]]]']);
  });

  it("afresh with each CONNECT", async () => {
    const { shell } = probeShell(SAYS);
    const client = await shell.connect({}, BUNDLE);
    client.send("41");
    await client.connect();
    client.emit("say", "a", "b");
    expect(client.heard("said")).toEqual([["a"], ["b"]]);
    client.send("41");
    await client.connect(BUNDLE);
    client.emit("say", "a", "b");
    expect(client.frames.at(-1)).toBe('42["bundle",[["said","a"],["said","b"]]]');
  });

  it("and may be Parley's own: its bundles are joined with its other packets", async () => {
    const { shell } = probeShell({
      handlers: {
        say(_socket, ack) {
          for (const text of ["a", "b"]) this.emit("said", text);
          ack("ok");
        },
      },
    });
    const client = await shell.connect({}, BUNDLE, { isExtended: true });
    expect(framesAfter(client, () => client.call("say"))).toEqual([
      '42["bundle",[["said","a"],["said","b"]]]\x1e430["ok"]',
    ]);
  });

  it("a bundle is made once for all clients that get it", () => {
    const served = servedProbe(SAYS);
    const { server, sent, app } = served;
    const [ada, ben, cyd] = [open(served), open(served), open(served, {})];
    sent.length = 0;
    server.effects.turn(() => ["a", "b"].forEach((text) => app.emit("said", text)));
    expect(sent.filter(({ type }) => type === "send")).toMatchObject([
      { sessions: [cyd], frames: ['42["said","a"]'] },
      { sessions: [cyd], frames: ['42["said","b"]'] },
      { sessions: [ada, ben], frames: ['42["bundle",[["said","a"],["said","b"]]]'] },
    ]);
  });

  it("also for one who gets answers after it", () => {
    const served = servedProbe({
      handlers: {
        tell(_socket, ack) {
          for (const text of ["a", "b"]) this.emit("said", text);
          ack("ok");
        },
      },
    });
    const { server, sent } = served;
    const [ada, ben] = [open(served), open(served)];
    sent.length = 0;
    void server.receive(ada, '427["tell"]');
    expect(sent.filter(({ type }) => type === "send")).toMatchObject([
      { sessions: [ada, ben], frames: ['42["bundle",[["said","a"],["said","b"]]]'] },
      { sessions: [ada], frames: ['437["ok"]'] },
    ]);
  });
});

describe("BUN-2: what the server sends keeps its order", () => {
  const ORDER: ProbeParts = {
    handlers: {
      mixed: (socket, ack) => {
        socket.emit("one", 1);
        socket.volatile.emit("two", 2);
        socket.emit("bytes", new Uint8Array([3]));
        socket.emit("three", 3);
        socket.broadcast.emit("elsewhere");
        socket.emit("four", 4);
        ack("answer");
        socket.emit("five", 5);
        socket.emit("six", 6);
        socket.ask("question", ["?"], { handler: "on", timeoutMs: 1000 });
        socket.emit("seven", 7);
        socket.emit("eight", 8);
        void socket.emitWithAck("other question").catch(() => {});
        socket.emit("nine", 9);
      },
      bye: (socket) => {
        socket.emit("last", "words");
        socket.emit("really");
        socket.disconnect(true);
      },
    },
    continuations: { on: () => {} },
  };

  it("events with bytes, answers and questions stand between bundles; volatile events in them", async () => {
    const { shell } = probeShell(ORDER);
    const client = await shell.connect({}, BUNDLE);
    const frames = framesAfter(client, () => client.call("mixed"));
    const ids = client.events().flatMap(({ id }) => (id === undefined ? [] : [id]));
    expect(frames).toEqual([
      '42["bundle",[["one",1],["two",2]]]',
      '451-["bytes",{"_placeholder":true,"num":0}]',
      new Uint8Array([3]),
      '42["bundle",[["three",3],["four",4]]]',
      '430["answer"]',
      '42["bundle",[["five",5],["six",6]]]',
      `42${ids[0]}["question","?"]`,
      '42["bundle",[["seven",7],["eight",8]]]',
      `42${ids[1]}["other question"]`,
      '42["nine",9]',
    ]);
  });

  it("the last events come before the end", async () => {
    const { shell } = probeShell(ORDER);
    const client = await shell.connect({}, BUNDLE);
    expect(framesAfter(client, () => client.emit("bye"))).toEqual(['42["bundle",[["last","words"],["really"]]]', "41"]);
    expect(client.closing?.code).toBe(4003);
  });

  it("the answer to the CONNECT comes before the first bundle", async () => {
    const { shell } = probeShell({ onConnect: (socket) => socket.emit("a") && socket.emit("b") });
    const client = await shell.connect({}, BUNDLE);
    expect(client.frames.slice(1)).toEqual([`40{"sid":"${client.socketId()}"}`, '42["bundle",[["a"],["b"]]]']);
  });
});

describe("BUN-3: a client that bundles", () => {
  it("does so after the sleep of the room", async () => {
    const { shell } = probeShell(SAYS);
    const [client, plain] = [await shell.connect({}, BUNDLE), await shell.connect()];
    for (let sleeps = 0; sleeps < 2; sleeps++) {
      shell.evict();
      expect(framesAfter(client, () => plain.emit("say", "a", "b"))).toEqual([
        '42["bundle",[["said","a"],["said","b"]]]',
      ]);
      expect(plain.heard("said")).toHaveLength(2 * (sleeps + 1));
    }
  });

  it("gets the offset of the last event at the end of each bundle, and recovers from it, with bundles or without", async () => {
    const log = new MemoryRecoveryLog("log", () => shell.nowMs);
    const shell: FakeShell = new FakeShell(() => ({ "/": new RecoverableProbe(log, SAYS, []) }));
    const speaker = await shell.connect();
    let auth: object = BUNDLE;
    for (const [asks, before, after] of [
      [BUNDLE, ["a", "b"], ["c", "d"]],
      [{}, ["e", "f"], ["g", "h"]],
      [{}, ["i"], ["j", "k"]],
      [BUNDLE, ["l", "m"], ["n"]],
    ] as const) {
      const client: Client = await shell.connect({ canRecover: true }, auth);
      speaker.emit("say", ...before);
      const { event } = client.events().at(-1)!;
      if (event[0] === "bundle") expect((event[1] as unknown[][]).at(-1)!.at(-1)).toBe(event[2]);
      client.leave();
      speaker.emit("say", ...after);
      auth = { ...asks, pid: client.accepted().pid, offset: lastOffset(client) };
      const back = await shell.connect({ canRecover: true }, auth);
      expect(back.accepted()).toEqual(client.accepted());
      const missed = back.packets.slice(1);
      expect(missed.flatMap(unpacked).map(({ data }) => data[1])).toEqual(after);
      expect(missed.length).toBe("bundle" in asks ? 1 : after.length);
      auth = { ...asks, pid: back.accepted().pid, offset: lastOffset(back) };
      back.leave();
    }
  });

  it("in a shard: the same", async () => {
    const { big, ada } = await hall();
    const [dan, eve] = [await big.join("dan", 0, {}, BUNDLE), await big.join("eve", 0)];
    await big.pass(5000);
    ada.emit("chat-message", { content: "at once" });
    for (const client of [dan, eve]) client.packets.length = 0;
    for (const content of ["1", "2", "3"]) ada.emit("chat-message", { content });
    await big.pass(1000);
    const { event } = dan.events().at(-1)!;
    expect([event[0], event.length]).toEqual(["bundle", 3]);
    expect(dan.packets.flatMap(unpacked)).toEqual(eve.packets);
    expect(seen(eve)).toEqual(["at once", "1", "2", "3"]);
  });
});

describe("BUN-1: over long-polling", () => {
  it("a poll brings the events that nobody has fetched in one bundle", () => {
    const served = servedProbe(SAYS);
    const { server, polls, app } = served;
    const session = open(served, BUNDLE, "polling");
    const say = (...texts: string[]): void =>
      server.effects.turn(() => texts.forEach((text) => app.emit("said", text)));
    say("a", "b");
    server.poll(session);
    server.poll(session);
    say("c", "d");
    expect(polls).toEqual([['42["bundle",[["said","a"],["said","b"]]]'], ['42["bundle",[["said","c"],["said","d"]]]']]);
  });

  it("also in Python, whose polls bring 16 packets at most, and every event once and in order", () => {
    const served = servedProbe({});
    const { server, polls, app } = served;
    const session = open(served, BUNDLE, "polling");
    const all = Array.from({ length: 3 * POLL_PACKETS_MAX }, (_, at) => at);
    server.effects.turn(() => {
      for (const at of all) {
        app.emit("n", at);
        app.emit("n", at + 0.5);
        app.emit("bytes", new Uint8Array(1));
      }
    });
    while (!session.polling!.isEmpty) server.poll(session);
    expect(Math.max(...polls.map(({ length }) => length))).toBe(POLL_PACKETS_MAX);
    const bundles = polls.flat().filter((packet) => packet.startsWith("42"));
    expect(bundles).toEqual(all.map((at) => `42["bundle",[["n",${at}],["n",${at + 0.5}]]]`));
    expect(polls.flat()).toHaveLength(3 * all.length);
  });

  it("a long queue is read once, however few of its packets each poll brings: its client holds nobody up", () => {
    const served = servedProbe({});
    const { server, polls } = served;
    const session = open(served, BUNDLE, "polling");
    const answers = Array.from({ length: 100 * POLL_PACKETS_MAX }, (_, at) => `43${at}["ok"]`);
    server.effects.send([session], answers);
    // Each packet that is read is asked for its namespace. All sessions of the same namespaces share this map.
    const read = vi.spyOn(session.bundling!.sockets, "get");
    while (!session.polling!.isEmpty) server.poll(session);
    expect(read).toHaveBeenCalledTimes(answers.length);
    read.mockRestore();
    expect(polls.flat()).toEqual(answers);
  });

  it("what comes while a long queue is fetched is in bundles, too, and in order", () => {
    const served = servedProbe({});
    const { server, polls, app } = served;
    const session = open(served, BUNDLE, "polling");
    const bytes = (count: number): void =>
      server.effects.turn(() => {
        for (let at = 0; at < count; at++) app.emit("bytes", new Uint8Array([at]));
        for (const text of ["a", "b"]) app.emit("said", text);
      });
    bytes(POLL_PACKETS_MAX);
    server.poll(session);
    bytes(1);
    while (!session.polling!.isEmpty) server.poll(session);
    const bundle = '42["bundle",[["said","a"],["said","b"]]]';
    const events = polls.flat().filter((packet) => packet.startsWith("4"));
    expect(events.map((packet) => (packet.startsWith("45") ? "bytes" : packet))).toEqual([
      ...Array.from({ length: POLL_PACKETS_MAX }, () => "bytes"),
      bundle,
      "bytes",
      bundle,
    ]);
  });

  it("the WebSocket that takes over brings the rest in bundles, and bundles from then on", () => {
    const served = servedProbe({});
    const { server, polls, sent, app } = served;
    const session = open(served, BUNDLE, "polling");
    const say = (...texts: string[]): void =>
      server.effects.turn(() => texts.forEach((text) => app.emit("said", text)));
    const probe = server.openProbe(session)!;
    void server.receive(probe, "2probe");
    say("a", "b");
    sent.length = 0;
    void server.receive(probe, "5");
    say("c", "d");
    expect(polls).toEqual([]);
    expect(sent.flatMap((effect) => (effect.type === "send" ? effect.frames : []))).toEqual([
      '42["bundle",[["said","a"],["said","b"]]]',
      '42["bundle",[["said","c"],["said","d"]]]',
    ]);
  });

  it("a session that the server ends gets its last events in a bundle", () => {
    const served = servedProbe({});
    const { server, polls, app } = served;
    const session = open(served, BUNDLE, "polling");
    server.effects.turn(() => {
      for (const text of ["a", "b"]) app.emit("said", text);
      app.disconnectSockets(true);
    });
    polls.push(server.takeFinalPayload(session.sid)!.split("\x1e"));
    expect(polls).toEqual([['42["bundle",[["said","a"],["said","b"]]]', "41"]]);
  });
});

/** A session in the main namespace that has nothing to fetch. */
function open(
  { server, polls }: Pick<ReturnType<typeof servedProbe>, "server" | "polls">,
  auth: object = BUNDLE,
  transport: "websocket" | "polling" = "websocket",
): Session {
  const session = server.open({ address: "192.0.2.1", query: {}, issued: START_MS }, transport);
  const connect = `40${JSON.stringify(auth)}`;
  if (transport === "websocket") void server.receive(session, connect);
  else {
    server.poll(session);
    server.endPost(session, connect);
    server.poll(session);
    polls.length = 0;
  }
  return session;
}
