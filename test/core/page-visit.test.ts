// One stay of the page in one room, over WebSockets that the test plays the server of.
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { ExtendedWebSocket } from "../../client/extended-transports.ts";
import { Visit } from "../../client/page/visit.ts";
import { FakeWebSocket } from "./fake-websocket.ts";

const HANDSHAKE = { sid: "engine", upgrades: [], pingInterval: 45_000, pingTimeout: 30_000, maxPayload: 5000 };

let line: FakeWebSocket;
let visit: Visit;
let announced: string[];

/** Whatever the page asks, its newest history is this. */
class Server extends FakeWebSocket {
  override send(frame: unknown): void {
    for (const [, id] of String(frame).matchAll(/42(\d+)\["history"/g))
      queueMicrotask(() => this.receive(`43${id}${JSON.stringify([{ ok: true, messages: history, hasMore: false }])}`));
  }
}

let history: object[];
const messageOf = (seq: number, content: string): object => ({ id: content, seq, sender: "ben", name: "Ben", content });
const shown = (): string[] => visit.timeline.messages.map(({ content }) => content);

async function enter(epoch: string): Promise<void> {
  await vi.advanceTimersByTimeAsync(2000);
  line.onopen!();
  line.receive(`0${JSON.stringify(HANDSHAKE)}`);
  await vi.advanceTimersByTimeAsync(0);
  line.receive('40{"sid":"socket"}');
  await vi.advanceTimersByTimeAsync(0);
  const told = { user: "ada", lastSeq: history.length, epoch, presence: { count: 1 }, settings: {} };
  line.receive(`42${JSON.stringify(["welcome", told])}`);
  await vi.advanceTimersByTimeAsync(0);
}

beforeEach(() => {
  vi.useFakeTimers();
  announced = [];
  vi.spyOn(ExtendedWebSocket.prototype, "createSocket").mockImplementation((url: string) => (line = new Server(url)));
  const token = { current: () => "token", renew: async () => {} };
  visit = new Visit("http://chat.example", "general", token, {
    changed: () => {},
    announce: (text) => announced.push(text),
    tokenNeeded: () => {},
  });
});
afterEach(() => {
  visit.leave();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

it("a room that was deleted and began anew shows nothing of what it was", async () => {
  history = ["old one", "old two", "old three"].map((content, at) => messageOf(at + 1, content));
  await enter("first");
  expect(shown()).toEqual(["old one", "old two", "old three"]);
  line.close();
  history = ["new one", "new two"].map((content, at) => messageOf(at + 1, content));
  await enter("second");
  expect(shown()).toEqual(["new one", "new two"]);
});

it("announces what others say, by its file's name where there are no words, and nothing of what was deleted", async () => {
  history = [];
  await enter("first");
  const heard = [
    messageOf(1, "hello"),
    { ...messageOf(2, ""), id: "two", attachment: { name: "cat.png" } },
    { ...messageOf(3, ""), id: "three", deleted: true },
    { ...messageOf(4, "mine"), sender: "ada", name: "Ada" },
  ];
  for (const message of heard) line.receive(`42${JSON.stringify(["chat-message", message])}`);
  await vi.advanceTimersByTimeAsync(0);
  expect(visit.timeline.messages).toHaveLength(4);
  expect(announced).toEqual(["Ben: hello", "Ben: cat.png"]);
});
