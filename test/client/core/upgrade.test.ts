// A session that begins over long-polling and upgrades to an extended WebSocket, late.
import { io, type Socket } from "socket.io-client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { ExtendablePolling, ExtendedWebSocket } from "../../../client/core/extended-transports.ts";
import { FakeWebSocket } from "../../host/fake-websocket.ts";

const HANDSHAKE = {
  sid: "engine",
  upgrades: ["websocket"],
  pingInterval: 45_000,
  pingTimeout: 30_000,
  maxPayload: 200,
};

let ws: FakeWebSocket;
let answerPoll: (payload: string) => void;
let socket: Socket;

class Polling extends ExtendablePolling {
  override doPoll(): void {
    answerPoll = (payload) => this.onData(payload);
  }
  override doWrite(_payload: string, done: () => void): void {
    queueMicrotask(done);
  }
}

class Transport extends ExtendedWebSocket {
  override createSocket(uri: string): FakeWebSocket {
    return (ws = new FakeWebSocket(uri));
  }
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  socket.disconnect();
  vi.useRealTimers();
});

it("EXT-3: the heartbeat of a session that upgraded late comes before Engine.IO's watchdog", async () => {
  const disconnects: string[] = [];
  socket = io("http://chat.example", { transports: [Polling, Transport], forceNew: true, reconnection: false });
  socket.on("disconnect", (reason) => disconnects.push(reason));
  answerPoll(`0${JSON.stringify(HANDSHAKE)}`);
  await vi.advanceTimersByTimeAsync(0);
  answerPoll('40{"sid":"socket"}');
  ws.onopen!();
  await vi.advanceTimersByTimeAsync(44_000);
  ws.receive("3probe");
  answerPoll("6");
  await vi.advanceTimersByTimeAsync(0);
  expect(ws.sent).toEqual(["2probe", "5"]);
  await vi.advanceTimersByTimeAsync(45_000);
  expect([disconnects, ws.sent]).toEqual([[], ["2probe", "5", "3"]]);
});
