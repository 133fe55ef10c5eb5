// A WebSocket as far as a transport of the client needs one; the test is its other end. Called by the tests of the client.
import { afterEach, beforeEach, vi } from "vitest";

import { ExtendedWebSocket } from "../../client/core/extended-transports.ts";

const SEPARATOR = "\x1e";
export const HANDSHAKE = { sid: "engine", upgrades: [], pingInterval: 45_000, pingTimeout: 30_000, maxPayload: 5000 };

export class FakeWebSocket {
  readonly sent: unknown[] = [];
  isClosed = false;
  onopen?: () => void;
  onclose?: (event: object) => void;
  onmessage?: (event: { data: unknown }) => void;
  readonly url: URL;

  constructor(url: string) {
    this.url = new URL(url);
  }

  send(frame: unknown): void {
    this.sent.push(frame);
  }

  close(): void {
    this.isClosed = true;
    this.onclose?.({});
  }

  receive(...packets: string[]): void {
    this.onmessage?.({ data: packets.join(SEPARATOR) });
  }
}

/** Lets the client run its microtasks and due timers. */
export const turn = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

/** The WebSockets that the clients of a test dialled. */
export class Dialled {
  readonly all: FakeWebSocket[] = [];

  get count(): number {
    return this.all.length;
  }

  /** The newest. */
  get line(): FakeWebSocket {
    return this.all.at(-1)!;
  }

  /** The server answers on the newest one, up to the handshake of Engine.IO. */
  async open(handshake: object = {}): Promise<void> {
    await turn();
    this.line.onopen!();
    this.line.receive(`0${JSON.stringify({ ...HANDSHAKE, ...handshake })}`);
    await turn();
  }

  /** The same, up to the answer to CONNECT. */
  async accept(handshake?: object): Promise<void> {
    await this.open(handshake);
    this.line.receive('40{"sid":"socket"}');
    await turn();
  }

  /** The room sends an event. */
  async emit(...event: unknown[]): Promise<void> {
    this.line.receive(`42${JSON.stringify(event)}`);
    await turn();
  }
}

/** Called at the top of a file of tests, whose clients dial no server, and run on a clock that stands. */
export function useDialled(make = (url: string): FakeWebSocket => new FakeWebSocket(url)): Dialled {
  const dialled = new Dialled();
  beforeEach(() => {
    vi.useFakeTimers();
    dialled.all.length = 0;
    vi.spyOn(ExtendedWebSocket.prototype, "createSocket").mockImplementation((url: string) => {
      dialled.all.push(make(url));
      return dialled.line;
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });
  return dialled;
}
