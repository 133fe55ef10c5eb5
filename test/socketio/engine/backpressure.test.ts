// EIO-10: unread bytes are bounded, and a client that reads, however late, stays connected.
import { describe, expect, it } from "vitest";

import { CLOSINGS } from "../../../src/socketio/wire/closings.ts";
import {
  FLOW_CONTROL_PING_BYTES,
  STALE_BYTES_MAX,
  STALE_MS,
  STALLED_BYTES_MAX,
  STALLED_MS,
  WINDOW_BYTES_MAX,
} from "../../../src/socketio/engine/backpressure.ts";
import { OPTIONS, type Client, type FakeShell } from "../../host/harness.ts";
import { probeShell } from "../../host/probe.ts";
import { fc, runs } from "../../host/properties.ts";

const CHUNK = 64 * 1024;

/** A room whose members get as many bytes as a test asks for. */
async function room() {
  const { shell } = probeShell({
    handlers: {
      give(_socket, bytes: number) {
        this.emit("given", "x".repeat(bytes));
      },
    },
  });
  const giver = await shell.connect();
  const give = (bytes: number): void => giver.emit("give", bytes);
  return { shell, give };
}

/** Gives in pieces, with time in between. */
function giveFor(
  shell: FakeShell,
  give: (bytes: number) => void,
  { chunks, everyMs }: { chunks: number; everyMs: number },
) {
  for (let i = 0; i < chunks; i++) {
    give(CHUNK);
    shell.advance(everyMs);
  }
}

const stuckIn = async (shell: FakeShell, isExtended = false): Promise<Client> => {
  const client = await shell.connect({}, undefined, { isExtended });
  client.answersPings = false;
  return client;
};

describe("EIO-10: a client that does not read", () => {
  it.each([false, true])("gets one flow-control ping after many bytes (extended: %s)", async (isExtended) => {
    const { shell, give } = await room();
    const stuck = await stuckIn(shell, isExtended);
    const asked = (): number => stuck.frames.filter((frame) => typeof frame === "string" && frame[0] === "2").length;
    give(FLOW_CONTROL_PING_BYTES - 1000);
    expect(asked()).toBe(0);
    give(2000);
    expect(asked()).toBe(1);
    give(2000);
    expect(asked()).toBe(1);
    expect(stuck.closing).toBeUndefined();
  });

  it.each([false, true])("is closed at once beyond WINDOW_BYTES_MAX (extended: %s)", async (isExtended) => {
    const { shell, give } = await room();
    const stuck = await stuckIn(shell, isExtended);
    for (let given = 0; given + 2 * CHUNK < WINDOW_BYTES_MAX; given += CHUNK) give(CHUNK);
    expect(stuck.closing).toBeUndefined();
    give(CHUNK * 2);
    expect(stuck.closing).toBe(CLOSINGS.queueTooLong);
  });

  it("is closed with fewer bytes when its flow-control ping is old", async () => {
    const { shell, give } = await room();
    const stuck = await stuckIn(shell);
    give(FLOW_CONTROL_PING_BYTES + 1);
    give(STALE_BYTES_MAX - FLOW_CONTROL_PING_BYTES);
    shell.advance(STALE_MS);
    give(1000);
    expect(stuck.closing).toBeUndefined();
    shell.advance(1);
    give(1000);
    expect(stuck.closing).toBe(CLOSINGS.queueTooLong);
  });

  it("is closed sooner if all stalled sessions together have STALLED_BYTES_MAX", async () => {
    const { shell, give } = await room();
    const each = STALE_BYTES_MAX / 2;
    const enough = Math.ceil(STALLED_BYTES_MAX / each);
    const stuck = await Promise.all(Array.from({ length: enough + 1 }, () => stuckIn(shell)));
    give(FLOW_CONTROL_PING_BYTES + 1);
    give(each - FLOW_CONTROL_PING_BYTES);
    shell.advance(STALLED_MS + 1);
    give(1000);
    expect(stuck.every(({ closing }) => closing === CLOSINGS.queueTooLong)).toBe(true);
  });

  it("does not affect other sessions", async () => {
    const { shell, give } = await room();
    const [stuck, reader] = [await stuckIn(shell), await shell.connect()];
    giveFor(shell, give, { chunks: 100, everyMs: 50 });
    expect(stuck.closing).toBe(CLOSINGS.queueTooLong);
    expect(reader.closing).toBeUndefined();
    expect(reader.heard("given")).toHaveLength(100);
  });

  it("is closed when it sends pongs without pings", async () => {
    const { shell, give } = await room();
    const liar = await stuckIn(shell);
    for (let i = 0; i < 100 && !liar.closing; i++) {
      give(CHUNK);
      shell.advance(500);
      liar.send("3");
    }
    expect(liar.closing).toBe(CLOSINGS.protocolViolation);
  });

  it("proves nothing with the pongs of an extended session, nor with an invented answer", async () => {
    const { shell, give } = await room();
    const liar = await stuckIn(shell, true);
    for (let i = 0; i < 100 && !liar.closing; i++) {
      give(CHUNK);
      shell.advance(100);
      liar.send("3");
      liar.send("3guess");
    }
    expect(liar.closing).toBe(CLOSINGS.queueTooLong);
  });
});

describe("EIO-10: a client that reads", () => {
  it("over an extended session may get any number of bytes", async () => {
    const { shell, give } = await room();
    const reader = await shell.connect({}, undefined, { isExtended: true });
    giveFor(shell, give, { chunks: 300, everyMs: 20 });
    expect(reader.closing).toBeUndefined();
    expect(reader.heard("given")).toHaveLength(300);
  });

  it("stays if it is as late as in a tunnel: 30 s at 20 KiB/s", async () => {
    const { shell, give } = await room();
    const phone = await stuckIn(shell);
    for (let i = 0; i < 10; i++) {
      for (let second = 0; second < 30; second++) {
        give(20 * 1024);
        shell.advance(1000);
      }
      for (const _ping of phone.frames.splice(0).filter((frame) => frame === "2")) phone.send("3");
    }
    expect(phone.closing).toBeUndefined();
  });

  it("is never closed for its pongs, with any delay below a second", () => {
    const step = fc.record({ bytes: fc.integer({ min: 0, max: 300_000 }), ms: fc.integer({ min: 1, max: 40_000 }) });
    return fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 30 }),
        fc.integer({ min: 0, max: 999 }),
        async (steps, lateMs) => {
          const { shell, give } = await room();
          const late = await stuckIn(shell);
          for (const { bytes, ms } of steps) {
            give(bytes);
            shell.advance(lateMs);
            for (const _ping of late.frames.splice(0).filter((frame) => frame === "2")) late.send("3");
            shell.advance(ms);
            for (const _ping of late.frames.splice(0).filter((frame) => frame === "2")) late.send("3");
          }
          expect(late.closing).toBeUndefined();
        },
      ),
      runs(40),
    );
  });

  it("gets at most one flow-control ping per FLOW_CONTROL_PING_BYTES, and its heartbeat goes on", async () => {
    const { shell, give } = await room();
    const reader = await shell.connect();
    giveFor(shell, give, { chunks: 200, everyMs: 10 });
    expect(reader.pings).toBeLessThanOrEqual((200 * CHUNK) / FLOW_CONTROL_PING_BYTES);
    shell.advance(OPTIONS.pingIntervalMs * 3);
    expect(reader.closing).toBeUndefined();
  });

  it("starts at zero after a sleep of its room", async () => {
    const { shell, give } = await room();
    const stuck = await stuckIn(shell);
    give(FLOW_CONTROL_PING_BYTES + 1);
    shell.evict();
    give(FLOW_CONTROL_PING_BYTES - 1000);
    expect(stuck.pings).toBe(1);
    give(2000);
    expect(stuck.pings).toBe(2);
  });
});
