// Hostile frames: those that break the protocol end the session that sent them, and no other; those that are only odd change nothing.
import { describe, expect, it } from "vitest";

import type { Frame } from "../../../src/socketio/wire/engine-io.ts";
import { CONNECTS_MAX, COUNT_WINDOW_MS } from "../../../src/socketio/engine/session-flood.ts";
import { FakeShell, OPTIONS } from "../../host/harness.ts";
import { Probe, probeShell } from "../../host/probe.ts";

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
    ["EIO-4: an unknown packet type", 1002, "7"],
    ["EIO-4: a letter", 1002, "x"],
    ["EIO-4: a digit of another script", 1002, "\u0664"],
    ["EIO-4: a ping, which is the server's", 1002, "2"],
    ["EIO-4: a probe of an upgrade that is not one", 1002, "2probe"],
    ["SIO-7: an empty message", 1002, "4"],
    ["SIO-7: garbage", 1002, "4abc"],
    ["SIO-7: an event that is an object", 1002, "42{}"],
    ["SIO-7: an event that is a string", 1002, '42"echo"'],
    ["SIO-7: an event without a payload", 1002, "42"],
    ["SIO-7: an empty event", 1002, "42[]"],
    ["SIO-7: an event named null", 1002, "42[null]"],
    ["SIO-7: an event named by an object", 1002, '42[{"x":1}]'],
    ["SIO-7: an event named by a number", 1002, "42[1]"],
    ["SIO-7: JSON that does not end", 1002, '42["echo"'],
    ["SIO-7: JSON that goes on", 1002, '42["echo"]x'],
    ["SIO-7: a reserved name, connect", 1002, '42["connect"]'],
    ["SIO-7: a reserved name, disconnect", 1002, '42["disconnect"]'],
    ["SIO-7: a reserved name, disconnecting", 1002, '42["disconnecting"]'],
    ["SIO-7: a reserved name, connect_error", 1002, '42["connect_error"]'],
    ["SIO-7: a reserved name, newListener", 1002, '42["newListener"]'],
    ["SIO-7: a CONNECT_ERROR, which is the server's", 1002, '44{"message":"no"}'],
    ["SIO-7: an unknown Socket.IO packet type", 1002, "47"],
    ["SIO-7: an ack without an id", 1002, "43[]"],
    ["SIO-7: an ack that is an object", 1002, "431{}"],
    ["SIO-7: a disconnect with a payload", 1002, "41[]"],
    ["SIO-7: a CONNECT with a list for auth", 1002, "40[]"],
    ["SIO-7: a CONNECT with a string for auth", 1002, '40"token"'],
    ["SIO-6: an ack id above 2^53 - 1", 1002, '429007199254740992["echo"]'],
    ["SIO-6: an ack id of a hundred digits", 1002, `42${"9".repeat(100)}["echo"]`],
    ["SIO-7: bytes where none are due", 1002, bytes(1)],
    ["SIO-7: text while attachments are due", 1002, `451-["echo",${placeholder(0)}]`, '42["echo"]'],
    ["SIO-7: a CONNECT while attachments are due", 1002, `451-["echo",${placeholder(0)}]`, "40"],
    ["SIO-7: bytes after the last attachment", 1002, `451-["echo",${placeholder(0)}]`, bytes(1), bytes(1)],
    ["SIO-7: a placeholder out of range", 1002, `451-["echo",${placeholder(1)}]`, bytes(1)],
    ["SIO-7: a negative placeholder", 1002, `451-["echo",${placeholder(-1)}]`, bytes(1)],
    ["SIO-7: a placeholder that names a method", 1002, `451-["echo",${placeholder("length")}]`, bytes(1)],
    ["SIO-7: a binary event without attachments", 1002, '450-["echo"]'],
    ["SIO-7: a binary event with an odd count", 1002, '451.5-["echo"]'],
    ["SIO-7: a binary event with a negative count", 1002, '45-1-["echo"]'],
    ["SIO-7: a binary event without a count", 1002, '45["echo"]'],
    ["SIO-8: 11 attachments", 1002, '4511-["echo"]'],
    ["SIO-8: endless attachments", 1002, '45999999999999-["echo"]'],
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
    ["EIO-4: a pong with data", "3probe"],
    ["EIO-4: an open packet", "0{}"],
    ["EIO-4: an upgrade packet", "5"],
    ["EIO-4: a noop", "6"],
    ["an ack that nobody waits for", "4399[1]"],
    ["an ack of __proto__", '430["__proto__"]'],
    ["an event that nobody handles", '42["__proto__",{}]'],
    ["an event that nobody handles, with an ack", '425["constructor"]'],
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

  it("a key called __proto__: it arrives as a key and pollutes nothing", async () => {
    const { attacker } = await roomOfTwo();
    attacker.send('427["echo",{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}]');
    expect(attacker.frames.at(-1)).toBe('437[{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}]');
    expect({}).not.toHaveProperty("polluted");
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
    const create = (): Probe => new Probe({ authorize: async () => ({ accepted: true, data: {} }) }, []);
    const at = (sync: boolean): Probe => (sync ? new Probe({}, []) : create());
    for (const isSync of [true, false]) {
      const shell = new FakeShell(() => ({ "/": at(isSync) }), {
        dynamic: [{ match: /\/n\d+/, create: () => at(isSync) }],
      });
      const names = Array.from({ length: count }, (_, n) => `/n${n}`);
      const [kept, client] = [shell.open(), shell.open()];
      for (const nsp of names) kept.send(`40${nsp},`);
      await shell.settle();
      for (let times = 0; times < 2; times++) {
        for (const nsp of names) client.send(`40${nsp},`);
        await shell.settle();
        expect(client.frames.filter((frame) => typeof frame === "string" && frame.startsWith("40/n"))).toHaveLength(
          count * (times + 1),
        );
        for (const nsp of names) client.send(`41${nsp},`);
      }
      expect([kept.closing, client.closing]).toEqual([undefined, undefined]);
      for (let connects = 0; connects < 3 * count; connects++) client.send("40/n1,", "41/n1,");
      await shell.settle();
      expect(client.closing?.code).toBeGreaterThanOrEqual(isSync ? 4006 : 1002);
      expect(kept.closing).toBeUndefined();
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
