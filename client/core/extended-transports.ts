// The transports of an extended session (EXT-1 to EXT-4), for the `transports` option of socket.io-client: a WebSocket that
// batches packets and keeps the heartbeat itself, and long-polling for networks without WebSockets. Called by connection.ts and requests.ts;
// `parley-rooms/client` exports them.
import { Fetch, NodeWebSocket, XHR } from "socket.io-client";

import { ENGINE_PONG, type EngineHandshake } from "../../src/socketio/wire/engine-io.ts";
import { systemClock } from "./clock.ts";
import { joinMessages, splitFrame } from "./frames.ts";
import { Heartbeat } from "./heartbeat.ts";

type Packet = Parameters<NodeWebSocket["doWrite"]>[0];
type Data = Parameters<NodeWebSocket["doWrite"]>[1];

/** By engine: the handshake comes over the first transport of a session; the transport of an upgrade needs it, too. */
const handshakes = new WeakMap<object, EngineHandshake>();

function noteHandshake(engine: object, { type, data }: Packet): void {
  if (type === "open") handshakes.set(engine, JSON.parse(String(data)) as EngineHandshake);
}

/** Bytes that the server takes in one packet; `undefined` before the handshake. */
export function maxPayloadOf(engine: object): number | undefined {
  return handshakes.get(engine)?.maxPayload;
}

/** In a browser `NodeWebSocket` is the browser's own WebSocket; in Node it is that of the `ws` package, or Node's in a bundle. */
export class ExtendedWebSocket extends NodeWebSocket {
  /** The server does not ping, so made-up pings reset Engine.IO's watchdog. Its pongs to them are not sent. */
  #pongsOwed = 0;
  /** So long after the last made-up ping a frame causes another one. */
  #resetEveryMs = Infinity;
  #resetAtMs = 0;
  readonly #heartbeat = new Heartbeat({
    clock: systemClock,
    beat: () => {
      this.#resetWatchdog();
      this.#pong("");
    },
    dead: () => {
      this.doClose();
      this.onClose({ description: "no answer to a heartbeat" });
    },
  });

  constructor(options: { readonly query?: Readonly<Record<string, string>> }) {
    // EXT-1: a chat takes either name, of which `ext` is the older one. In an object of one's own `ext` is the application's and may come from
    // its `query`; there `parley-ext` asks for the extensions.
    super({ ...options, query: { ext: "1", ...options.query, "parley-ext": "1" } });
  }

  /** Finds out soon whether the connection is still alive. */
  probe(): void {
    this.#heartbeat.probe();
  }

  protected override onData(data: Data): void {
    this.#heartbeat.heard();
    if (systemClock.now() - this.#resetAtMs >= this.#resetEveryMs) this.#resetWatchdog();
    if (typeof data !== "string") return super.onData(data);
    for (const piece of splitFrame(data)) super.onData(piece);
  }

  protected override onPacket(packet: Packet): void {
    noteHandshake(this.socket, packet);
    if (packet.type === "open") this.#startHeartbeat();
    // EIO-10: the server asks how far the client has read. Engine.IO's own answer would lack the data of the ping.
    if (packet.type === "ping" && packet.data !== undefined) return this.#pong(String(packet.data));
    super.onPacket(packet);
  }

  override write(packets: readonly Packet[]): void {
    const due = packets.filter(({ type, data }) => {
      const isOwed = type === "pong" && data === undefined && this.#pongsOwed > 0;
      if (isOwed) this.#pongsOwed -= 1;
      return !isOwed;
    });
    if (due.length === 0) {
      // Engine.IO waits for `drain`, also when there was nothing to write.
      this.writable = false;
      queueMicrotask(() => {
        this.writable = true;
        this.emitReserved("drain");
      });
      return;
    }
    super.write(joinMessages(due, maxPayloadOf(this.socket) ?? 0));
    if (!due.some(({ type }) => type === "upgrade")) return;
    // From here on this is the session's transport. The last ping of long-polling may be long ago.
    this.#startHeartbeat();
    this.#resetWatchdog();
  }

  protected override onClose(details?: Parameters<NodeWebSocket["onClose"]>[0]): void {
    this.#heartbeat.stop();
    super.onClose(details);
  }

  #startHeartbeat(): void {
    const handshake = handshakes.get(this.socket);
    if (!handshake) return;
    this.#heartbeat.start(handshake.pingInterval, handshake.pingTimeout);
    this.#resetEveryMs = handshake.pingInterval;
    this.#resetAtMs = systemClock.now();
  }

  #pong(data: string): void {
    try {
      this.doWrite({ type: "pong" }, ENGINE_PONG + data);
    } catch {
      // Closed already; the close event follows.
    }
  }

  /**
   * Resets Engine.IO's own watchdog by a made-up ping. It does not wait for the answer to a beat: the heartbeat has a deadline for that, and
   * in a hidden tab, where timers run once a minute, the watchdog would fire first.
   */
  #resetWatchdog(): void {
    this.#resetAtMs = systemClock.now();
    this.#pongsOwed += 1;
    super.onPacket({ type: "ping" });
  }
}

/** Stock long-polling; Node has no XMLHttpRequest. */
const StockPolling = (typeof XMLHttpRequest === "function" ? XHR : Fetch) as typeof Fetch;

export class ExtendablePolling extends StockPolling {
  protected override onPacket(packet: Packet): void {
    noteHandshake(this.socket, packet);
    super.onPacket(packet);
  }
}

/** For the option `transports` of a stock client: the client beats, and that does not wake an object that sleeps. */
export const extendedTransports = [ExtendedWebSocket, ExtendablePolling];
