// The transport of a light member: WebSocket, with several packets per frame in the extended dialect, or long-polling.
import { RawSocket, type Target } from "../measuring/raw-socket.ts";

export interface LineListener {
  /** One Engine.IO packet: bytes[start..end), valid during the call only. */
  packet(bytes: Buffer, start: number, end: number): void;
  /** It is over; called once. */
  closed(reason: string): void;
}

export interface Line {
  send(packet: string): void;
  /** Ends without a word. */
  drop(): void;
}

const SEPARATOR = 0x1e;

export class WebSocketLine implements Line {
  readonly #socket: RawSocket;

  constructor(target: Target, listener: LineListener) {
    this.#socket = new RawSocket(target, {
      opened: () => undefined,
      received: (bytes, start, end) => eachPacket(bytes, start, end, listener),
      closed: (reason) => listener.closed(reason),
    });
  }

  send(packet: string): void {
    this.#socket.send(packet);
  }

  drop(): void {
    this.#socket.drop();
  }
}

/** The separator cannot occur inside a packet: JSON escapes it. */
export function eachPacket(bytes: Buffer, start: number, end: number, listener: LineListener): void {
  for (let from = start; from < end;) {
    const separator = bytes.indexOf(SEPARATOR, from);
    const to = separator === -1 || separator > end ? end : separator;
    listener.packet(bytes, from, to);
    from = to + 1;
  }
}
