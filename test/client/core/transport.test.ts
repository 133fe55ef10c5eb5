// Tests the transports of an extended session under a stock socket.io-client, over a WebSocket whose server the test plays.
import { io, type Socket } from "socket.io-client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { ExtendablePolling, ExtendedWebSocket } from "../../../client/core/extended-transports.ts";
import { HANDSHAKE, turn, useDialled, type FakeWebSocket } from "../../host/fake-websocket.ts";

const SEPARATOR = "\x1e";

const dialled = useDialled();
let socket: Socket;
let disconnects: string[];

function connect(...transports: Array<typeof ExtendablePolling | typeof ExtendedWebSocket>): void {
  disconnects = [];
  socket = io("http://chat.example", { transports, forceNew: true, reconnection: false });
  socket.on("disconnect", (reason) => disconnects.push(reason));
}
afterEach(() => void socket.disconnect());

describe("an extended session", () => {
  let ws: FakeWebSocket;
  beforeEach(async () => {
    connect(ExtendedWebSocket);
    await dialled.accept({ maxPayload: 200 });
    ws = dialled.line;
    ws.sent.length = 0;
  });

  it("EXT-1: is named in the request, and is Engine.IO otherwise", () => {
    expect(Object.fromEntries(ws.url.searchParams)).toMatchObject({ EIO: "4", transport: "websocket", ext: "1" });
    expect(socket.connected).toBe(true);
  });

  it("EIO-10: answers a ping with its data, and with nothing else", async () => {
    ws.receive("2a-text-of-the-server");
    await turn();
    expect(ws.sent).toEqual(["3a-text-of-the-server"]);
    expect(socket.connected).toBe(true);
  });

  it("EXT-2: understands several packets in one frame, in order", async () => {
    const heard: unknown[] = [];
    socket.onAny((event, value) => heard.push([event, value]));
    ws.receive('42["a",1]', '42["b",2]', '42["a",3]');
    await turn();
    expect(heard).toEqual([
      ["a", 1],
      ["b", 2],
      ["a", 3],
    ]);
  });

  it("EXT-2: writes the packets of one turn in few frames, within maxPayload, binary ones in their place", async () => {
    for (let n = 0; n < 4; n++) socket.emit("n", n);
    socket.emit("bytes", new Uint8Array([1, 2]));
    for (let n = 4; n < 6; n++) socket.emit("n", n);
    await turn();
    const flat = ws.sent.flatMap((frame) => (typeof frame === "string" ? frame.split(SEPARATOR) : ["bytes"]));
    expect(flat).toEqual([
      ...[0, 1, 2, 3].map((n) => `42["n",${n}]`),
      '451-["bytes",{"_placeholder":true,"num":0}]',
      "bytes",
      ...[4, 5].map((n) => `42["n",${n}]`),
    ]);
    // The first goes at once; the others wait for it and share a frame up to the bytes.
    expect(ws.sent).toHaveLength(4);
  });

  it("EXT-3: beats alone in a frame, and the answer keeps Engine.IO's watchdog quiet without a pong", async () => {
    for (let hour = 0; hour < 80; hour++) {
      await vi.advanceTimersByTimeAsync(45_000);
      expect(ws.sent).toEqual(["3"]);
      ws.sent.length = 0;
      ws.receive("6");
      await turn();
      expect(ws.sent).toEqual([]);
    }
    expect(disconnects).toEqual([]);
    socket.emit("still", "there");
    await turn();
    expect(ws.sent).toEqual(['42["still","there"]']);
  });

  it("EXT-3: is closed when a beat stays without an answer", async () => {
    await vi.advanceTimersByTimeAsync(10_000);
    ws.receive("6");
    await vi.advanceTimersByTimeAsync(35_000 + 29_999);
    expect(disconnects).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(disconnects).toEqual(["transport close"]);
    expect(ws.isClosed).toBe(true);
  });

  it("finds out within seconds when it is asked to", async () => {
    (socket.io.engine.transport as unknown as ExtendedWebSocket).probe();
    expect(ws.sent).toEqual(["3"]);
    await vi.advanceTimersByTimeAsync(5000);
    expect(disconnects).toEqual(["transport close"]);
  });

  it("answers the ping of a server that does not know extended sessions", async () => {
    ws.receive("2");
    await turn();
    expect(ws.sent).toEqual(["3"]);
  });

  it("loses no packet while a pong is swallowed", async () => {
    socket.emit("a", 1);
    ws.receive("6");
    socket.emit("b", 2);
    await turn();
    expect(ws.sent.flatMap((frame) => String(frame).split(SEPARATOR))).toEqual(['42["a",1]', '42["b",2]']);
  });
});

it("EXT-3: the heartbeat of a session that upgraded late comes before Engine.IO's watchdog", async () => {
  let answerPoll = (_payload: string): void => {};
  connect(
    class extends ExtendablePolling {
      override doPoll(): void {
        answerPoll = (payload) => this.onData(payload);
      }
      override doWrite(_payload: string, done: () => void): void {
        queueMicrotask(done);
      }
    },
    ExtendedWebSocket,
  );
  answerPoll(`0${JSON.stringify({ ...HANDSHAKE, upgrades: ["websocket"] })}`);
  await turn();
  answerPoll('40{"sid":"socket"}');
  const { line } = dialled;
  line.onopen!();
  await vi.advanceTimersByTimeAsync(44_000);
  line.receive("3probe");
  answerPoll("6");
  await turn();
  expect(line.sent).toEqual(["2probe", "5"]);
  await vi.advanceTimersByTimeAsync(45_000);
  expect([disconnects, line.sent]).toEqual([[], ["2probe", "5", "3"]]);
});
