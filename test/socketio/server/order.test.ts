// All clients get events in the order of the emits, also when an emit causes others.
import { expect, it } from "vitest";

import { POLL_QUEUE_BYTES_MAX } from "../../../src/socketio/engine/poll-queue.ts";
import { type Broadcast, Recovery, type RecoveryLog } from "../../../src/socketio/recovery/recovery.ts";
import type { Socket } from "../../../src/socketio/server/socket.ts";
import { servedProbe } from "../../host/bare-server.ts";
import { FakeShell, RECORD_BYTES_MAX, START_MS } from "../../host/harness.ts";
import { Probe, probeShell } from "../../host/probe.ts";

it("events about the end of a session do not overtake those that its turn sends", async () => {
  const others: Array<(event: string) => void> = [];
  const { shell } = probeShell({
    handlers: {
      grow(socket) {
        socket.data = { text: "x".repeat(RECORD_BYTES_MAX) };
        this.emit("grown");
      },
    },
    onConnect: (socket) => others.push((event) => void socket.emit(event)),
    onDisconnect: () => others.forEach((tell) => tell("left")),
  });
  const [client, other] = [await shell.connect(), await shell.connect()];
  client.emit("grow");
  expect(client.closing?.code).toBe(4004);
  expect(other.frames.slice(-2)).toEqual(['42["grown"]', '42["left"]']);
});

/** The order of broadcasts, and nothing else. */
class CountingLog implements RecoveryLog {
  readonly epoch = "e";
  readonly key = "a key";
  lastSeq = 0;
  append(_broadcast: Broadcast): number {
    return ++this.lastSeq;
  }
  since(): [] {
    return [];
  }
}

class Echoing extends Probe {
  override readonly recovery = new Recovery(new CountingLog(), 60_000);
  override onAnyOutgoing(socket: Socket, event: string): void {
    if (event === "one") socket.emit("two");
  }
}

it("events that onAnyOutgoing emits come first, and have the earlier offset", async () => {
  const shell = new FakeShell(() => ({
    "/": new Echoing(
      {
        handlers: {
          go(this: Probe) {
            this.emit("one");
          },
        },
      },
      [],
    ),
  }));
  const client = await shell.connect({ canRecover: true });
  client.emit("go");
  expect(client.frames.slice(-2)).toEqual(['42["two","e.1"]', '42["one","e.2"]']);
});

it("onAnyOutgoing hears each kind of event to a socket once", async () => {
  const heard: string[] = [];
  class Hearing extends Probe {
    override readonly recovery = new Recovery(new CountingLog(), 60_000);
    override onAnyOutgoing(_socket: Socket, event: string): void {
      heard.push(event);
    }
  }
  const shell = new FakeShell(() => ({
    "/": new Hearing(
      {
        handlers: {
          go(this: Probe, socket) {
            socket.emit("one");
            socket.volatile.emit("two");
            this.emit("three");
            this.volatile.emit("four");
            void socket.emitWithAck("five").catch(() => {});
          },
        },
      },
      [],
    ),
  }));
  (await shell.connect({ canRecover: true })).emit("go");
  expect(heard).toEqual(["one", "two", "three", "four", "five"]);
});

it("the leave of a client that fell behind does not overtake the messages that made it fall behind", () => {
  const { server, sent, app } = servedProbe({
    onDisconnect() {
      this.emit("left");
    },
  });
  const handshake = { address: "192.0.2.1", query: {}, issued: START_MS };
  const behind = server.open(handshake, "polling");
  server.endPost(behind, "40");
  void server.receive(server.open(handshake, "websocket"), "40");
  app.emit("loud", "x".repeat(POLL_QUEUE_BYTES_MAX));
  const heard = sent.flatMap((effect) => (effect.type === "send" ? (effect.frames as string[]) : []));
  const events = heard.filter((frame) => frame.startsWith("42"));
  expect(events.slice(-2).map((frame) => frame.slice(0, 8))).toEqual(['42["loud', '42["left']);
  expect(server.sessions.has(behind.sid)).toBe(false);
});
