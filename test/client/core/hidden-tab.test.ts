// An extended session in a hidden tab, whose timers the browser lets run once a minute, in the order in which they are due.
import { io, type Socket } from "socket.io-client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { ExtendedWebSocket } from "../../../client/core/extended-transports.ts";
import { FakeWebSocket } from "../../host/fake-websocket.ts";

const MINUTE_MS = 60_000;
const HIDDEN_FROM_MS = 5 * MINUTE_MS;
const HALF_HOUR_MS = 30 * MINUTE_MS;
const ROUND_TRIP_MS = 100;

/** `setTimeout` as the server and the network have it. */
let later: typeof setTimeout;
let ws: FakeWebSocket;
let socket: Socket;
const disconnects: string[] = [];

/** The server: it answers beats. */
class AnsweringWebSocket extends FakeWebSocket {
  override send(frame: unknown): void {
    super.send(frame);
    if (frame === "3") later(() => this.receive("6"), ROUND_TRIP_MS);
  }
}

class Transport extends ExtendedWebSocket {
  override createSocket(uri: string): FakeWebSocket {
    return (ws = new AnsweringWebSocket(uri));
  }
}

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
  disconnects.length = 0;
  later = globalThis.setTimeout;
  globalThis.setTimeout = ((run: () => void, delayMs = 0) => later(run, throttled(delayMs))) as typeof setTimeout;
});
afterEach(() => {
  socket.disconnect();
  globalThis.setTimeout = later;
  vi.useRealTimers();
});

/** All timers of a minute run at its end, one after the other. */
function throttled(delayMs: number): number {
  const dueMs = Date.now() + delayMs;
  if (delayMs === 0 || dueMs < HIDDEN_FROM_MS) return delayMs;
  const turnMs = Math.floor((dueMs % MINUTE_MS) / 1000);
  return Math.ceil(dueMs / MINUTE_MS) * MINUTE_MS + turnMs - Date.now();
}

async function connect(pingInterval: number, pingTimeout: number, startMs: number): Promise<void> {
  vi.setSystemTime(startMs);
  socket = io("http://chat.example", { transports: [Transport], forceNew: true, reconnection: false });
  socket.on("disconnect", (reason) => disconnects.push(reason));
  ws.onopen!();
  ws.receive(`0${JSON.stringify({ sid: "engine", upgrades: [], pingInterval, pingTimeout, maxPayload: 65_536 })}`);
  await vi.advanceTimersByTimeAsync(0);
  ws.receive('40{"sid":"socket"}');
  await vi.advanceTimersByTimeAsync(0);
}

const HEARTBEATS = [
  [25_000, 20_000],
  [30_000, 20_000],
  [45_000, 30_000],
] as const;
const CASES = HEARTBEATS.flatMap(([intervalMs, timeoutMs]) =>
  [0, 7000, 20_000, 40_000, 55_000].map((startMs) => [intervalMs, timeoutMs, startMs] as const),
);

describe("EXT-3 in a hidden tab", () => {
  it.each(CASES)(
    "a beat every %i ms, answered within %i: stays connected (from %i)",
    async (interval, timeout, start) => {
      await connect(interval, timeout, start);
      await vi.advanceTimersByTimeAsync(HALF_HOUR_MS);
      expect(disconnects).toEqual([]);
    },
  );

  it.each(HEARTBEATS)(
    "a beat every %i ms, answered within %i: can answer whenever it hears something",
    async (interval, timeout) => {
      await connect(interval, timeout, 0);
      socket.on("ask", (n: number) => socket.emit("answer", n));
      for (let n = 1; n <= 100; n++) {
        later(() => ws.receive(`42["ask",${n}]`), n * 17_000);
      }
      await vi.advanceTimersByTimeAsync(HALF_HOUR_MS);
      expect([disconnects, ws.sent.filter((frame) => String(frame).startsWith("42")).length]).toEqual([[], 100]);
    },
  );

  it("still notices a dead connection", async () => {
    await connect(25_000, 20_000, 0);
    await vi.advanceTimersByTimeAsync(HIDDEN_FROM_MS);
    ws.receive = () => {};
    await vi.advanceTimersByTimeAsync(3 * MINUTE_MS);
    expect(disconnects).toEqual(["transport close"]);
  });
});
