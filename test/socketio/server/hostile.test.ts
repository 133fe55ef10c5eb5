// Hostile frames: those that break the protocol end the session that sent them, and no other; those that are only odd change nothing.
import { describe, expect, it } from "vitest";

import type { Frame } from "../../../src/socketio/wire/engine-io.ts";
import type { Session } from "../../../src/socketio/engine/session.ts";
import { CONNECTS_MAX, COUNT_WINDOW_MS } from "../../../src/socketio/engine/session-flood.ts";
import { bareServer } from "../../host/bare-server.ts";
import { OPTIONS, START_MS } from "../../host/harness.ts";
import { Probe, probeShell, type ProbeParts } from "../../host/probe.ts";

const bytes = (length: number): Frame => new Uint8Array(length);
const placeholder = (num: unknown): string => `{"_placeholder":true,"num":${JSON.stringify(num)}}`;
const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
const { maxPayloadBytes } = OPTIONS;

async function roomOfTwo() {
  const { shell, calls } = probeShell({
    handlers: {
      echo: (_socket, ...args) => {
        const ack = args.at(-1);
        if (typeof ack === "function") ack(...args.slice(0, -1));
      },
    },
  });
  const attacker = await shell.connect();
  const other = await shell.connect();
  return { shell, calls, attacker, other };
}

describe("ends only the session that sends it", () => {
  it.each<[what: string, code: number, ...frames: Frame[]]>([
    ["EIO-4: an empty frame", 1002, ""],
    ["EIO-4: a ping, which is the server's", 1002, "2"],
    ["SIO-7: garbage", 1002, "4abc"],
    ["SIO-7: JSON that does not end", 1002, '42["echo"'],
    ["SIO-7: a reserved name, connect", 1002, '42["connect"]'],
    ["SIO-7: a CONNECT_ERROR, which is the server's", 1002, '44{"message":"no"}'],
    ["SIO-6: an ack id above 2^53 - 1", 1002, '429007199254740992["echo"]'],
    ["SIO-7: bytes where none are due", 1002, bytes(1)],
    ["SIO-7: text while attachments are due", 1002, `451-["echo",${placeholder(0)}]`, '42["echo"]'],
    ["SIO-7: a CONNECT while attachments are due", 1002, `451-["echo",${placeholder(0)}]`, "40"],
    ["SIO-7: bytes after the last attachment", 1002, `451-["echo",${placeholder(0)}]`, bytes(1), bytes(1)],
    ["SIO-7: a placeholder out of range", 1002, `451-["echo",${placeholder(1)}]`, bytes(1)],
    ["SIO-8: 11 attachments", 1002, '4511-["echo"]'],
    ["EIO-6: text beyond maxPayload", 1009, `4${"x".repeat(maxPayloadBytes)}`],
    ["EIO-6: text beyond maxPayload in UTF-8 only", 1009, `42["echo","${"\u20ac".repeat(maxPayloadBytes / 3)}"]`],
    ["EIO-6: bytes beyond maxPayload", 1009, bytes(maxPayloadBytes + 1)],
  ])("%s", async (_what, code, ...frames) => {
    const { shell, calls, attacker, other } = await roomOfTwo();
    const framesOfOther = other.frames.length;
    attacker.send(...frames);
    await shell.settle();
    expect(attacker.closing?.code).toBe(code);
    expect(calls.filter((call) => call.startsWith("disconnect"))).toHaveLength(1);
    expect(other.frames).toHaveLength(framesOfOther);
    expect(other.call("echo", 1).answer).toBe(1);
    expect(shell.problems).toEqual([]);
  });
});

describe("changes nothing", () => {
  it.each<[what: string, ...frames: Frame[]]>([
    ["EIO-4: a pong", "3"],
    ["EIO-4: an open packet", "0{}"],
    ["EIO-4: an upgrade packet", "5"],
    ["EIO-4: a noop", "6"],
    ["an ack that nobody waits for", "4399[1]"],
    ["an event that nobody handles", '42["__proto__",{}]'],
    ["a frame of exactly maxPayload bytes", `42["unheard","${"x".repeat(maxPayloadBytes - 16)}"]`],
    ["deep nesting", `42["unheard",${nested(20_000)}]`],
  ])("%s", async (_what, ...frames) => {
    const { shell, attacker } = await roomOfTwo();
    attacker.send(...frames);
    await shell.settle();
    expect(attacker.closing).toBeUndefined();
    expect(attacker.call("echo", 1).answer).toBe(1);
    expect(shell.problems).toEqual([]);
  });

  it("frames that come after the session was ended", async () => {
    const { shell, calls, attacker } = await roomOfTwo();
    attacker.send("2", "40", '421["echo"]', "1");
    expect(attacker.closing?.code).toBe(1002);
    expect(calls.filter((call) => call.startsWith("disconnect"))).toHaveLength(1);
    expect(shell.problems).toEqual([]);
  });
});

describe("SIO-4: an unjoined session may not begin a binary packet", () => {
  const tenAttachmentsDue = `4510-["echo",${placeholder(0)}]`;

  it("before CONNECT, and after the last namespace was left", async () => {
    const { shell, attacker, other } = await roomOfTwo();
    const stranger = shell.open();
    stranger.send(tenAttachmentsDue);
    expect(stranger.closing?.code).toBe(1002);
    attacker.send("41", tenAttachmentsDue);
    expect(attacker.closing?.code).toBe(1002);
    expect(other.call("echo", 1).answer).toBe(1);
  });
});

describe("nesting too deep to be encoded", () => {
  it.each([
    ["text", undefined],
    ["binary", 1002],
  ])("affects no other session than that which sends it (%s)", async (kind, code) => {
    const { shell, attacker, other } = await roomOfTwo();
    if (kind === "text") attacker.send(`421["echo",${nested(30_000)}]`);
    else attacker.send(`451-1["echo",${nested(20_000)},${placeholder(0)}]`, bytes(1));
    await shell.settle();
    expect(attacker.closing?.code).toBe(code);
    expect(other.closing).toBeUndefined();
    expect(other.call("echo", 1).answer).toBe(1);
  });
});

describe("SIO-11: CONNECT after CONNECT", () => {
  it("ends the session at more than 100 within ten seconds", async () => {
    const { other, attacker, calls } = await roomOfTwo();
    // roomOfTwo() has sent the attacker's first CONNECT.
    for (let connects = 1; connects < CONNECTS_MAX; connects++) attacker.send("41", "40");
    expect(attacker.closing).toBeUndefined();
    attacker.send("41", "40");
    expect(attacker.closing?.code).toBe(4006);
    expect(other.closing).toBeUndefined();
    // All CONNECTs of the attacker but the last, and the one of the other client.
    expect(calls.filter((call) => call.startsWith("connect"))).toHaveLength(CONNECTS_MAX + 1);
  });

  it.each([130, 250])("a client in %i namespaces comes back, and may leave all and join again", async (count) => {
    const names = Array.from({ length: count }, (_, n) => `/n${n}`);
    const atOnceAndLater: ProbeParts[] = [{}, { authorize: async () => ({ accepted: true, data: {} }) }];
    for (const parts of atOnceAndLater) {
      const joined = new Map<Session, number>();
      const codes = new Map<Session, number>();
      const server = bareServer({
        table: { static: {}, dynamic: [{ match: /\/n\d+/, create: () => new Probe(parts, []) }] },
        apply(effects) {
          for (const effect of effects) {
            if (effect.type === "close") codes.set(effect.session, effect.closing.code);
            if (effect.type !== "send") continue;
            const answers = effect.frames.filter((frame) => String(frame).startsWith("40/n")).length;
            for (const session of effect.sessions) joined.set(session, (joined.get(session) ?? 0) + answers);
          }
        },
      });
      const open = (): Session => server.open({ address: "192.0.2.1", query: {}, issued: START_MS }, "websocket");
      const send = (session: Session, ...frames: Frame[]): void =>
        frames.forEach((frame) => void server.receive(session, frame));
      const decided = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
      const [kept, client] = [open(), open()];
      for (const nsp of names) send(kept, `40${nsp},`);
      await decided();
      for (let times = 1; times <= 2; times++) {
        for (const nsp of names) send(client, `40${nsp},`);
        await decided();
        expect(joined.get(client)).toBe(count * times);
        for (const nsp of names) send(client, `41${nsp},`);
      }
      expect(codes.size).toBe(0);
      for (let connects = 0; connects < 3 * count; connects++) send(client, "40/n1,", "41/n1,");
      await decided();
      expect(codes.get(client)).toBeGreaterThanOrEqual(parts.authorize ? 1002 : 4006);
      expect(codes.has(kept)).toBe(false);
    }
  });

  it("names that no namespace has make no room for more", async () => {
    const { attacker } = await roomOfTwo();
    for (let n = 0; n < CONNECTS_MAX; n++) attacker.send(`40/none-${n},`);
    expect(attacker.closing?.code).toBe(4006);
  });

  it("counts refused ones too, and starts again after ten seconds", async () => {
    const { shell, attacker } = await roomOfTwo();
    for (let connects = 1; connects < CONNECTS_MAX; connects++) attacker.send("40/none");
    shell.advance(COUNT_WINDOW_MS);
    for (let connects = 0; connects < CONNECTS_MAX; connects++) attacker.send("40/none");
    expect(attacker.closing).toBeUndefined();
    attacker.send("40/none");
    expect(attacker.closing?.code).toBe(4006);
  });
});
