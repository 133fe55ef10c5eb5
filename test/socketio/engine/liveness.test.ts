// EIO-7: pings, and the closing of dead sessions. The server sees no pongs; it asks the shell for the time of the last one.
import { describe, expect, it } from "vitest";

import { OPTIONS, type Client } from "../../host/harness.ts";
import { probeShell } from "../../host/probe.ts";

const { pingIntervalMs, pingTimeoutMs } = OPTIONS;

describe("EIO-7: a client that answers", () => {
  it("is pinged once per interval and stays", async () => {
    const { shell } = probeShell();
    const client = await shell.connect();
    shell.advance(pingIntervalMs - 1);
    expect(client.pings).toBe(0);
    shell.advance(1);
    expect(client.pings).toBe(1);
    shell.advance(pingIntervalMs * 99);
    expect(client.pings).toBe(100);
    expect(client.closing).toBeUndefined();
  });

  it("waits no longer for a ping if it sent a frame in between and the room slept", async () => {
    const { shell } = probeShell({ handlers: { note: (socket) => void (socket.data = { isNoted: true }) } });
    const client = await shell.connect();
    shell.advance(pingIntervalMs);
    shell.advance(32_000);
    client.emit("note");
    await shell.settle();
    shell.advance(pingIntervalMs - 34_000);
    shell.evict();
    shell.advance(2000);
    expect(client.pings).toBe(2);
  });
});

describe("EIO-7: a client that has not answered its ping yet", () => {
  it.each([
    ["its first one, with which the beat of its room began", 0],
    ["one of many", 5],
  ])("is not pinged again because the room slept in between: %s", async (_which, answered) => {
    const { shell } = probeShell({}, { phase: 0.5 });
    const client = await shell.connect();
    shell.advance(pingIntervalMs * answered);
    const before = client.pings;
    client.answersPings = false;
    while (client.pings === before) shell.advance(1000);
    for (let i = 0; i < 20; i++) {
      shell.evict();
      shell.advance(1000);
    }
    expect(client.pings).toBe(before + 1);
  });
});

describe("EIO-7: rooms that fill at the same moment, as after a restart of the server", () => {
  const PHASES = Array.from({ length: 10 }, (_, at) => at / 10);

  it("ping at moments of their own, none later than after the interval, and each only once per interval", async () => {
    const clients: Client[] = [];
    const shells = PHASES.map((phase) => probeShell({}, { phase }).shell);
    for (const shell of shells) clients.push(await shell.connect());
    const firstPingsMs = PHASES.map(() => Infinity);
    for (let ms = 500; ms <= 10 * pingIntervalMs; ms += 500) {
      for (const [at, shell] of shells.entries()) {
        shell.advance(500);
        if (clients[at]!.pings > 0) firstPingsMs[at] = Math.min(firstPingsMs[at]!, ms);
      }
    }
    expect(new Set(firstPingsMs).size).toBe(PHASES.length);
    expect(Math.min(...firstPingsMs)).toBeGreaterThanOrEqual(pingIntervalMs / 2);
    expect(Math.max(...firstPingsMs)).toBe(pingIntervalMs);
    expect(clients.every(({ pings }) => pings === 10)).toBe(true);
  });

  it("keep their moments through sleep, from the first one on", async () => {
    const [awake, sleepy] = [probeShell({}, { phase: 0.8 }).shell, probeShell({}, { phase: 0.8 }).shell];
    const clients = [await awake.connect(), await sleepy.connect()];
    for (let slept = 0; slept < 100; slept++) {
      for (const shell of [awake, sleepy]) shell.advance(pingIntervalMs / 10);
      sleepy.evict();
      expect(clients[1]!.pings).toBe(clients[0]!.pings);
    }
    expect(clients[0]!.pings).toBe(10);
  });
});

describe("EIO-7: a client that gives no sign of life", () => {
  it.each([
    ["at once, in a room whose first ping comes at its time", 0, 0, 0],
    ["at once, in one whose first ping comes early", 0.9, 0, 0],
    ["after its tenth answer", 0, 10, 0],
    ["after its tenth answer in a room that pinged early", 0.7, 10, 0],
    ["in the middle between two pings", 0.3, 3, 20_000],
  ])("%s is closed an interval and a timeout after its last answer", async (_when, phase, answered, laterMs) => {
    for (const sleeps of [false, true]) {
      const { shell, calls } = probeShell({}, { phase });
      const [client, other] = [await shell.connect(), await shell.connect()];
      let aliveAtMs = shell.nowMs;
      while (client.pings < answered) {
        shell.advance(250);
        if (client.pings === answered) aliveAtMs = shell.nowMs;
      }
      shell.advance(laterMs);
      client.answersPings = false;
      const endMs = aliveAtMs + pingIntervalMs + pingTimeoutMs;
      while (shell.nowMs + 2500 < endMs) {
        shell.advance(2500);
        if (sleeps && shell.quietMs > 1000) shell.evict();
        expect(client.closing).toBeUndefined();
      }
      shell.advance(endMs + 250 - shell.nowMs);
      expect(client.closing?.code).toBe(4002);
      expect(calls.at(-1)).toBe(`disconnect ${client.socketId()}: ping timeout`);
      shell.advance(10 * pingIntervalMs);
      expect(other.closing).toBeUndefined();
    }
  });

  it("with an interval shorter than the timeout is closed at that moment, too", async () => {
    const { shell } = probeShell({}, { pingIntervalMs: 10_000, pingTimeoutMs: 25_000 });
    const client = await shell.connect();
    client.answersPings = false;
    shell.advance(34_999);
    expect(client.closing).toBeUndefined();
    shell.advance(1);
    expect(client.closing?.code).toBe(4002);
  });

  it("stays while it sends other frames", async () => {
    const { shell } = probeShell();
    const client = await shell.connect();
    client.answersPings = false;
    for (let i = 0; i < 20; i++) {
      shell.advance(pingIntervalMs);
      client.emit("anything");
    }
    expect(client.closing).toBeUndefined();
  });
});

describe("EIO-7: the pings of a room", () => {
  /** How often the room has to wake in an hour. */
  async function wakesPerInterval(offsetsMs: readonly number[]): Promise<number> {
    const { shell } = probeShell();
    const clients: Client[] = [];
    for (const offsetMs of offsetsMs) {
      shell.advance(offsetMs);
      clients.push(await shell.connect());
    }
    shell.advance(pingIntervalMs * 20);
    const wakesAtMs = new Set<number>();
    const endMs = shell.nowMs + pingIntervalMs * 10;
    while (shell.nowMs + shell.quietMs <= endMs) {
      // For a near deadline it stays awake.
      if (shell.quietMs > 1000) wakesAtMs.add(shell.nowMs + shell.quietMs);
      shell.advance(shell.quietMs);
    }
    for (const { closing } of clients) expect(closing).toBeUndefined();
    return wakesAtMs.size / 10;
  }

  it("share one moment per interval if the sessions came close together", async () => {
    expect(await wakesPerInterval([0, 1000, 3000, 2000, 5000])).toBe(1);
  });

  it("share few moments per interval, for any number of sessions at any time", async () => {
    expect(await wakesPerInterval(Array.from({ length: 200 }, (_, i) => (i * 7919) % 1301))).toBeLessThanOrEqual(4);
  });

  it("end with the last session: an empty room is not woken again", async () => {
    const { shell } = probeShell();
    (await shell.connect()).leave();
    shell.advance(pingIntervalMs);
    expect(shell.quietMs).toBe(Infinity);
  });
});
