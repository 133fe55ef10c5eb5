// Tests when an object's clock sets an alarm, which costs a row, and when it waits awake instead.
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { WakeClock } from "../../src/socketio/object/wake-clock.ts";
import { Deadlines } from "../../src/clock/deadlines.ts";
import { CLOSINGS } from "../../src/socketio/wire/closings.ts";
import type { SocketSession } from "../../src/socketio/server/socket-session.ts";
import { UnjoinedSessions } from "../../src/socketio/server/unjoined-sessions.ts";

const CONNECT_TIMEOUT_MS = 10_000;
const PING_INTERVAL_MS = 45_000;
const HOUR_MS = 3_600_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A room whose first ping is due in 45 s, as its clock sees it. */
async function clocked() {
  const alarms: number[] = [];
  const closed: SocketSession[] = [];
  const deadlines = new Deadlines();
  const ping = deadlines.add("ping", () => {});
  const unjoined = new UnjoinedSessions(CONNECT_TIMEOUT_MS, deadlines, { now: Date.now }, (session) => {
    unjoined.closed(session, CLOSINGS.connectTimeout);
    closed.push(session);
  });
  const storage = {
    getAlarm: async () => null,
    setAlarm: async (atMs: number) => void alarms.push(atMs - Date.now()),
  } as unknown as DurableObjectStorage;
  const fire = (): void => void deadlines.runDue(Date.now(), () => {});
  const clock = new WakeClock(storage, deadlines, fire);
  await clock.wake();
  const come = (): SocketSession => {
    const session = { handshake: {} } as SocketSession;
    ping.pull(Date.now() + PING_INTERVAL_MS);
    unjoined.add(session, Date.now());
    return session;
  };
  /** The alarm goes off. */
  const ring = async (): Promise<void> => {
    clock.alarmFired();
    fire();
    await clock.arm();
  };
  return { alarms, closed, deadlines, unjoined, come, ring };
}

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

it("a CONNECT half a second after its upgrade sets no alarm of its own: there is one, for the ping", async () => {
  const { alarms, unjoined, come } = await clocked();
  const session = come();
  await pass(500);
  unjoined.joined(session);
  await pass(2000);
  expect(alarms).toEqual([PING_INTERVAL_MS - 750]);
});

it("many such CONNECTs one after the other set no alarm either", async () => {
  const { alarms, unjoined, come } = await clocked();
  const sessions: SocketSession[] = [];
  for (let step = 0; step < 40; step++) {
    sessions.push(come());
    await pass(200);
    if (step >= 3) unjoined.joined(sessions[step - 3]!);
  }
  for (const session of sessions) unjoined.joined(session);
  await pass(2000);
  expect(alarms).toHaveLength(1);
});

it("a clock that is set back keeps the object awake only briefly", async () => {
  const { alarms, come } = await clocked();
  come();
  await pass(200);
  vi.setSystemTime(Date.now() - 3_600_000);
  await pass(3000);
  expect(alarms).toHaveLength(1);
});

it("a session without CONNECT after a second is left to an alarm, which ends it", async () => {
  const { alarms, closed, come, ring } = await clocked();
  const session = come();
  await pass(1500);
  expect(alarms).toEqual([CONNECT_TIMEOUT_MS - 1000]);
  await pass(CONNECT_TIMEOUT_MS - 1500);
  await ring();
  expect(closed).toEqual([session]);
  expect(alarms).toEqual([CONNECT_TIMEOUT_MS - 1000, PING_INTERVAL_MS - CONNECT_TIMEOUT_MS]);
});

it("a deadline in memory that is set while the alarm is about to be set is met, and no alarm is set before", async () => {
  const { alarms, deadlines, unjoined, come } = await clocked();
  unjoined.joined(come());
  await pass(100);
  const met: number[] = [];
  const inMemory = deadlines.add("in memory", () => met.push(alarms.length), { keepsAwake: true });
  inMemory.set(Date.now() + 1000);
  await pass(1000);
  expect(met).toEqual([0]);
  await pass(1000);
  expect(alarms).toHaveLength(1);
});

it("a deadline that survives crashes sets the alarm at once, and again only if it moves forward", async () => {
  const { alarms, deadlines, come } = await clocked();
  const auction = deadlines.add("auction", () => {}, { survivesCrash: true });
  const now = Date.now();
  auction.set(now + HOUR_MS);
  await pass(0);
  expect(alarms).toEqual([HOUR_MS]);
  auction.set(now + 2 * HOUR_MS);
  auction.set(now + HOUR_MS / 2);
  await pass(0);
  expect(alarms).toEqual([HOUR_MS, HOUR_MS / 2]);
  // The alarm of a ping comes sooner, and wakes the object, which sets its deadlines again.
  come();
  await pass(10_000);
  auction.set(now + HOUR_MS);
  await pass(10_000);
  expect(alarms.slice(2).every((inMs) => inMs <= PING_INTERVAL_MS)).toBe(true);
});

it("one that survives crashes and is near has an alarm besides its timer", async () => {
  const { alarms, deadlines } = await clocked();
  let ran = 0;
  deadlines.add("soon", () => void ran++, { survivesCrash: true }).set(Date.now() + 500);
  await pass(0);
  expect([alarms, ran]).toEqual([[500], 0]);
  await pass(500);
  expect(ran).toBe(1);
});
