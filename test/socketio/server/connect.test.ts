// From the handshake to a joined namespace, and back out of it.
import { describe, expect, it } from "vitest";

import { CLOSINGS } from "../../../src/socketio/wire/closings.ts";
import { FakeShell, OPTIONS, START_MS } from "../../host/harness.ts";
import { Probe, probeShell } from "../../host/probe.ts";

const ADA = { user: "ada", name: "Ada", role: "member" } as const;

const { connectTimeoutMs } = OPTIONS;

/** SIO-14. */
const UNDECIDED = { message: "Internal server error", data: { code: "INTERNAL" } };

describe("the handshake", () => {
  it("EIO-1: is the first frame, with exactly these keys", () => {
    const { shell } = probeShell();
    const client = shell.open();
    expect(client.frames).toHaveLength(1);
    const sid = client.handshake["sid"];
    expect(client.frames[0]).toBe(
      `0${JSON.stringify({ sid, upgrades: [], pingInterval: 45_000, pingTimeout: 30_000, maxPayload: 65_536 })}`,
    );
    expect(sid).not.toBe(shell.open().handshake["sid"]);
  });
});

describe("CONNECT", () => {
  it('SIO-2: is answered with exactly {"sid"}, which is not the sid of the session', async () => {
    const { shell } = probeShell();
    const client = await shell.connect();
    expect(client.frames[1]).toBe(`40${JSON.stringify({ sid: client.socketId() })}`);
    expect(client.socketId()).not.toBe(client.handshake["sid"]);
  });

  it("SIO-3: to an unknown namespace is refused, and the session stays open", async () => {
    const { shell } = probeShell();
    const client = shell.open();
    client.send("40/random,");
    expect(client.frames.at(-1)).toBe('44/random,{"message":"Invalid namespace"}');
    expect(client.closing).toBeUndefined();
    await client.connect();
    expect(client.socketId()).toBeTruthy();
  });

  it("SIO-13: a temporary refusal closes the session (1013) when its cause may have passed; a session in a namespace stays", async () => {
    const passing = { accepted: false, message: "not yet", data: { code: "LATER" }, passesInMs: 4000 } as const;
    const shell = new FakeShell(() => ({
      "/": new Probe({ authorize: async ({ auth }) => (auth["key"] ? { accepted: true, data: {} } : passing) }, []),
      "/busy": new Probe({ authorize: () => passing }, []),
    }));
    const refused = await shell.connect();
    shell.advance(3999);
    expect(refused.closing).toBeUndefined();
    shell.advance(1);
    expect(refused.closing).toEqual({ code: 1013, reason: "try again later", disconnect: "transport close" });
    expect(refused.packets).toEqual([]);
    const member = await shell.connect({}, { key: "yes" });
    member.send("40/busy,");
    expect(member.frames.at(-1)).toBe('44/busy,{"message":"not yet","data":{"code":"LATER"}}');
    expect(member.closing).toBeUndefined();
  });

  it("SIO-13: at its connect timeout at the latest, also if its client tries again meanwhile, and after sleep", async () => {
    const { shell } = probeShell({ authorize: () => ({ accepted: false, message: "not yet", passesInMs: 60_000 }) });
    const [one, other] = [await shell.connect(), await shell.connect()];
    shell.advance(connectTimeoutMs - 1);
    one.send("40");
    expect([one.closing, other.closing]).toEqual([undefined, undefined]);
    shell.evict();
    shell.advance(1);
    expect([one.closing, other.closing]).toEqual([CLOSINGS.connectTimeout, CLOSINGS.connectTimeout]);
    const last = await shell.connect();
    shell.advance(connectTimeoutMs);
    expect(last.closing).toEqual(CLOSINGS.tryLater);
  });

  it("SIO-3: a refusal carries message, then data, and the client may try again", async () => {
    let isOpen = false;
    const { shell, calls } = probeShell({
      authorize: () =>
        isOpen ? { accepted: true, data: {} } : { accepted: false, message: "not yet", data: { code: "LATER" } },
    });
    const client = await shell.connect();
    expect(client.frames.at(-1)).toBe('44{"message":"not yet","data":{"code":"LATER"}}');
    expect(calls).toEqual([]);
    isOpen = true;
    await client.connect();
    expect(calls).toEqual([`connect ${client.socketId()}`]);
  });

  it("hands auth and handshake to authorize, as they came", async () => {
    const requests: unknown[] = [];
    const { shell } = probeShell({
      authorize: (request) => {
        requests.push(request);
        return { accepted: true, data: {} };
      },
    });
    const handshake = { address: "192.0.2.7", query: { a: "1" }, identity: ADA };
    await shell.connect(handshake, { token: "t", deep: [{ x: null }] });
    expect(requests).toEqual([
      { nsp: "/", auth: { token: "t", deep: [{ x: null }] }, handshake: { ...handshake, issued: START_MS } },
    ]);
  });

  it("SIO-5: a second one to the same namespace ends the session", async () => {
    const { shell, calls } = probeShell();
    const client = await shell.connect();
    await client.connect();
    expect(client.closing?.code).toBe(1002);
    expect(calls).toEqual([`connect ${client.socketId()}`, `disconnect ${client.socketId()}: forced close`]);
  });

  it.each<[what: string, ...frames: string[]]>([
    ["event", '42["x"]'],
    ["event that wants an ack", '421["x"]'],
    ["ack", "431[]"],
    ["disconnect", "41"],
    ["event in another namespace than the joined one", "40", '42/other,["x"]'],
    ["disconnect from another namespace than the joined one", "40", "41/other,"],
  ])("SIO-4: an %s in a namespace that was not joined ends the session", (_what, ...frames) => {
    const client = probeShell().shell.open();
    client.send(...frames);
    expect(client.closing?.code).toBe(1002);
  });

  it("joins several namespaces over one session, each with an id of its own", async () => {
    const calls: string[] = [];
    const shell = new FakeShell(() => ({ "/": new Probe({}, calls), "/game": new Probe({}, calls) }));
    const client = await shell.connect();
    await client.connect(undefined, "/game");
    expect(client.socketId("/game")).not.toBe(client.socketId());
    client.leave();
    expect(calls.filter((call) => call.startsWith("disconnect"))).toHaveLength(2);
  });
});

describe("a CONNECT whose decision takes time", () => {
  function slowDoor() {
    const verdict = Promise.withResolvers<{ accepted: true; data: unknown }>();
    return { verdict, ...probeShell({ authorize: () => verdict.promise, handlers: { x: () => undefined } }) };
  }

  it("is answered when the decision comes", async () => {
    const { shell, verdict, calls } = slowDoor();
    const client = shell.open();
    client.send("40");
    expect(client.frames).toHaveLength(1);
    verdict.resolve({ accepted: true, data: {} });
    await shell.settle();
    expect(calls).toEqual([`connect ${client.socketId()}`]);
  });

  it.each(["40", '42["x"]'])(
    "SIO-5, SIO-4: %s meanwhile ends the session, and the CONNECT gets no answer",
    async (frame) => {
      const { shell, verdict, calls } = slowDoor();
      const client = shell.open();
      client.send("40", frame);
      expect(client.closing?.code).toBe(1002);
      verdict.resolve({ accepted: true, data: {} });
      await shell.settle();
      expect(client.frames).toHaveLength(1);
      expect(calls).toEqual([]);
      expect(shell.problems).toEqual([]);
    },
  );

  it("has no effect if the client is gone by then", async () => {
    const { shell, verdict, calls } = slowDoor();
    const client = shell.open();
    client.send("40");
    client.leave();
    verdict.resolve({ accepted: true, data: {} });
    await shell.settle();
    expect(calls).toEqual([]);
    expect(shell.problems).toEqual([]);
  });

  it("SIO-1: does not stop the connect timeout", async () => {
    const { shell, verdict } = slowDoor();
    const client = shell.open();
    client.send("40");
    shell.advance(connectTimeoutMs);
    expect(client.closing?.code).toBe(4001);
    verdict.resolve({ accepted: true, data: {} });
    await shell.settle();
    expect(client.frames).toHaveLength(1);
  });

  it.each([undefined, null, false, "yes", {}, { accepted: false }, { accepted: "yes", data: {} }])(
    "SIO-14: lets nobody in if authorize returns no verdict: %j",
    async (given) => {
      for (const authorize of [() => given, async () => given]) {
        const { shell, calls } = probeShell({ authorize: authorize as never });
        const client = await shell.connect();
        expect(client.refusal).toEqual(UNDECIDED);
        expect(calls).toEqual([]);
        expect(shell.problems.map(({ error }) => String(error))).toEqual([
          expect.stringContaining("authorize returned no verdict"),
        ]);
      }
    },
  );
});

describe("SIO-1: the connect timeout", () => {
  it("ends a session that joined nothing, at its time and not before", () => {
    const { shell } = probeShell();
    const early = shell.open();
    shell.advance(3000);
    const late = shell.open();
    shell.advance(connectTimeoutMs - 3001);
    expect(early.closing).toBeUndefined();
    shell.advance(1);
    expect(early.closing?.code).toBe(4001);
    shell.advance(2999);
    expect(late.closing).toBeUndefined();
    shell.advance(1);
    expect(late.closing?.code).toBe(4001);
  });

  it("does not touch a session that joined, and is not due any more", async () => {
    const { shell } = probeShell();
    const client = await shell.connect();
    expect(shell.quietMs).toBe(OPTIONS.pingIntervalMs);
    shell.advance(connectTimeoutMs * 2);
    expect(client.closing).toBeUndefined();
  });

  it.each([
    ["was put out of", '42["quit"]'],
    ["left", "41"],
  ])("SIO-1: ends a session that %s its last namespace and stays, asleep or not", async (_how, frame) => {
    const { shell } = probeShell({ handlers: { quit: (socket) => socket.disconnect() } });
    const client = await shell.connect();
    shell.advance(20_000);
    client.send(frame);
    shell.advance(3000);
    shell.evict();
    shell.advance(connectTimeoutMs - 3001);
    expect(client.closing).toBeUndefined();
    shell.advance(1);
    expect(client.closing?.code).toBe(4001);
  });

  it("runs on while the room sleeps", () => {
    const { shell } = probeShell();
    const client = shell.open();
    shell.advance(4000);
    shell.evict();
    shell.advance(connectTimeoutMs - 4000);
    expect(client.closing?.code).toBe(4001);
  });
});

describe("leaving", () => {
  it("a namespace: the session stays, and the namespace can be joined again", async () => {
    const { shell, calls } = probeShell();
    const client = await shell.connect();
    const id = client.socketId();
    client.send("41");
    expect(calls.at(-1)).toBe(`disconnect ${id}: client namespace disconnect`);
    expect(client.closing).toBeUndefined();
    await client.connect();
    expect(client.socketId()).not.toBe(id);
  });

  it("EIO-4: an Engine.IO close ends the session, and calls onDisconnect", async () => {
    const { shell, calls } = probeShell();
    const client = await shell.connect();
    client.send("1");
    expect(client.closing?.code).toBe(1000);
    expect(calls.at(-1)).toBe(`disconnect ${client.socketId()}: transport close`);
  });

  it("by a broken connection calls onDisconnect once", async () => {
    const { shell, calls } = probeShell();
    const client = await shell.connect();
    client.leave();
    client.leave();
    expect(calls.slice(1)).toEqual([`disconnect ${client.socketId()}: transport close`]);
  });

  it("socket.disconnect() removes the client from the namespace with a disconnect packet", async () => {
    const { shell, calls } = probeShell({ handlers: { quit: (socket) => socket.disconnect() } });
    const client = await shell.connect();
    client.emit("quit");
    expect(client.frames.at(-1)).toBe("41");
    expect(client.closing).toBeUndefined();
    expect(calls.at(-1)).toBe(`disconnect ${client.socketId()}: server namespace disconnect`);
  });

  it("socket.disconnect(true) sends disconnect packets, then ends the session, so that the client does not come back", async () => {
    const { shell, calls } = probeShell({ handlers: { quit: (socket) => socket.disconnect(true) } });
    const client = await shell.connect();
    client.emit("quit");
    expect(client.closing).toBeDefined();
    expect(calls.at(-1), "as on Node").toBe(`disconnect ${client.socketId()}: server namespace disconnect`);
    expect(client.frames.at(-1)).toBe("41");
  });
});
