// Tests when the client reconnects, how long it waits, and when it stops.
import { beforeEach, describe, expect, it } from "vitest";

import type { Connection } from "../../../client/core/api.ts";
import { RETRY_MAX_MS, retryDelayMs } from "../../../client/core/backoff.ts";
import { Reconnection, TOKENS_REFUSED_MAX, type Failure } from "../../../client/core/reconnection.ts";
import { fc } from "../../host/properties.ts";
import { VirtualClock } from "../../host/virtual-clock.ts";

const LOST: Failure = { kind: "lost", message: "transport close" };
const refused = (code: string, retryAfterMs?: number): Failure => ({
  kind: "refused",
  code,
  message: code,
  ...(retryAfterMs !== undefined && { retryAfterMs }),
});

let clock: VirtualClock;
let attempts: number;
let states: Connection[];
let reconnection: Reconnection;

function start(mayRenew = true): void {
  clock = new VirtualClock();
  attempts = 0;
  states = [];
  reconnection = new Reconnection({
    clock,
    random: () => 0.5,
    mayRenew,
    attempt: () => void attempts++,
    changed: (connection) => states.push(connection),
  });
  reconnection.connect();
}
beforeEach(() => start());

/** Fails once and returns how long it then took to the next attempt; Infinity when there is none. */
function waitAfter(failure: Failure): number {
  reconnection.failed(failure);
  const waitMs = clock.quietMs;
  if (waitMs < Infinity) clock.advance(waitMs);
  return waitMs;
}

describe("the delay before another attempt", () => {
  it("doubles from a second to half a minute, between half of it and all of it", () => {
    expect([0, 1, 2, 3, 4, 5, 60].map((attempt) => retryDelayMs(attempt, 0))).toEqual([
      500, 1000, 2000, 4000, 8000, 15_000, 15_000,
    ]);
    expect(retryDelayMs(60, 0.999_999)).toBe(RETRY_MAX_MS);
  });

  it("is never shorter than the server asked for (property)", () => {
    fc.assert(
      fc.property(
        fc.nat(100),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        fc.nat(60_000),
        (attempt, random, ms) => {
          expect(retryDelayMs(attempt, random, ms)).toBeGreaterThanOrEqual(ms);
        },
      ),
    );
  });
});

describe("reconnecting", () => {
  it("grows the wait from failure to failure, and resets it after a lasting connection", () => {
    const waits = [waitAfter(LOST), waitAfter(LOST), waitAfter(LOST)];
    expect(waits).toEqual([750, 1500, 3000]);
    reconnection.connected();
    clock.advance(5000);
    expect(waitAfter(LOST)).toBe(750);
  });

  it("goes on growing where connections break as soon as they stand", () => {
    expect(waitAfter(LOST)).toBe(750);
    reconnection.connected();
    clock.advance(10);
    expect(waitAfter(LOST)).toBe(1500);
  });

  it("counts one failure once, however often it is reported", () => {
    reconnection.failed(LOST);
    reconnection.failed(LOST);
    clock.advance(750);
    expect(attempts).toBe(2);
    expect(states.map(({ state }) => state)).toEqual(["connecting", "waiting", "connecting"]);
  });

  it("tries another transport at once", () => {
    expect(waitAfter({ kind: "blocked", message: "websocket error" })).toBe(0);
    expect(waitAfter(LOST)).toBe(750);
  });

  it("wakes early when the page is online or in view again", () => {
    for (let failures = 0; failures < 6; failures++) waitAfter(LOST);
    reconnection.failed(LOST);
    const before = attempts;
    reconnection.wake();
    expect(attempts).toBe(before + 1);
    expect(reconnection.connection).toEqual({ state: "connecting" });
  });

  it("an announced wait is kept as it is, without a random part or a shortest wait; the next failure waits as usual", () => {
    expect(waitAfter({ ...LOST, retryAfterMs: 40, isAppointment: true })).toBe(40);
    expect(waitAfter(LOST)).toBe(retryDelayMs(1, 0.5));
    expect(waitAfter({ ...LOST, retryAfterMs: 540_000, isAppointment: true })).toBe(540_000);
  });

  it("but not before the time that the server asked for", () => {
    reconnection.failed({ ...LOST, retryAfterMs: 10_000 });
    clock.advance(9999);
    reconnection.wake();
    expect(attempts).toBe(1);
    clock.advance(1);
    reconnection.wake();
    expect(attempts).toBe(2);
  });

  it("keeps an open connection on wake and on connect", () => {
    reconnection.connected();
    reconnection.wake();
    reconnection.connect();
    expect(attempts).toBe(1);
  });

  it("stops for good on request", () => {
    reconnection.failed(LOST);
    reconnection.stop("CLOSED", "The room was closed.");
    reconnection.stop("CLOSED", "The room was closed.");
    clock.advance(600_000);
    reconnection.wake();
    reconnection.failed(LOST);
    expect(attempts).toBe(1);
    expect(states.filter(({ state }) => state === "stopped")).toHaveLength(1);
  });
});

describe("after a refusal", () => {
  it.each(["ROOM_FULL", "TOO_MANY_CONNECTIONS", "TOKEN_EXPIRED", "UNAUTHORIZED", "SERVER_SHUTDOWN", "UNAVAILABLE"])(
    "%s: tries again",
    (code) => expect(waitAfter(refused(code))).toBe(750),
  );

  it("ROOM_FULL with retryAfterMs: not before", () => {
    expect(waitAfter(refused("ROOM_FULL", 20_000))).toBe(20_500);
  });

  it.each([
    refused("BANNED"),
    refused("BANNED", 1000),
    refused("KICKED"),
    refused("FORBIDDEN_ROOM"),
    refused("NEW_CODE"),
  ])("$code: stops, because trying again does not help", (failure) => {
    expect(waitAfter(failure)).toBe(Infinity);
    expect(reconnection.connection).toEqual({ state: "stopped", code: failure.code, message: failure.message });
  });

  it.each(["TOKEN_EXPIRED", "UNAUTHORIZED"])("%s with a fixed token: stops", (code) => {
    start(false);
    expect(waitAfter(refused(code))).toBe(Infinity);
  });

  it("stops when the token function has no better token to give", () => {
    for (let refusals = 1; refusals < TOKENS_REFUSED_MAX; refusals++)
      expect(waitAfter(refused("UNAUTHORIZED"))).toBeLessThan(Infinity);
    expect(waitAfter(refused("UNAUTHORIZED"))).toBe(Infinity);
    reconnection.connect();
    expect(reconnection.connection.state).toBe("connecting");
  });

  it("retries while the server cannot fetch keys, regardless of tokens refused before", () => {
    for (let attempt = 0; attempt < 20; attempt++) {
      expect(waitAfter({ kind: "lost", message: "transport close" })).toBeLessThanOrEqual(RETRY_MAX_MS);
      expect(waitAfter(refused("UNAVAILABLE", 10_000))).toBeLessThanOrEqual(RETRY_MAX_MS);
    }
    expect(reconnection.connection.state).toBe("connecting");
  });

  it("an end without a reason stops; a failing token function does not", () => {
    expect(waitAfter({ kind: "token", message: "No token" })).toBe(750);
    expect(waitAfter({ kind: "refused", message: "The room ended the connection." })).toBe(Infinity);
    expect(reconnection.connection).toMatchObject({ state: "stopped", code: "ENDED" });
  });
});
