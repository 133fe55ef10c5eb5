// The transports of an extended session (EXT-1 to EXT-4), for the `transports` option of socket.io-client: a WebSocket that
// batches packets and keeps the heartbeat itself, and long-polling for where no WebSocket gets through.
import { Fetch, NodeWebSocket, XHR } from "socket.io-client";

import { ENGINE_PONG, type EngineHandshake } from "../../src/socketio/wire/engine-io.ts";
import { systemClock } from "./clock.ts";
import { joinMessages, splitFrame } from "./frames.ts";
import { Heartbeat } from "./heartbeat.ts";

type Packet = Parameters<NodeWebSocket["doWrite"]>[0];
type Data = Parameters<NodeWebSocket["doWrite"]>[1];

/** By engine: the handshake comes over the first transport of a session, and the one it upgrades to needs it too. */
const handshakes = new WeakMap<object, EngineHandshake>();

function noteHandshake(engine: object, { type, data }: Packet): void {
  if (type === "open") handshakes.set(engine, JSON.parse(String(data)) as EngineHandshake);
}

/** Bytes that the server takes in one packet; nothing is known before the handshake. */
export function maxPayloadOf(engine: object): number | undefined {
  return handshakes.get(engine)?.maxPayload;
}

/** In a browser `NodeWebSocket` is the browser's own WebSocket; in Node it is that of the `ws` package, or Node's in a bundle. */
export class ExtendedWebSocket extends NodeWebSocket {
  /** Engine.IO answers each ping that is made up here; those answers are not for the server. */
  #pongsOwed = 0;
  /** How long Engine.IO's watchdog may go without word before the next sign of life is passed on to it. */
  #calmForMs = Infinity;
  #calmedAtMs = 0;
  readonly #heartbeat = new Heartbeat({
    clock: systemClock,
    beat: () => this.#beat(),
    dead: () => {
      this.doClose();
      this.onClose({ description: "no answer to a heartbeat" });
    },
  });

  constructor(options: { readonly query?: Readonly<Record<string, string>> }) {
    super({ ...options, query: { ...options.query, ext: "1" } });
  }

  /** Finds out soon whether the connection is still alive. */
  probe(): void {
    this.#heartbeat.probe();
  }

  protected override onData(data: Data): void {
    this.#heartbeat.heard();
    if (systemClock.now() - this.#calmedAtMs >= this.#calmForMs) this.#calmWatchdog();
    if (typeof data !== "string") return super.onData(data);
    for (const piece of splitFrame(data)) super.onData(piece);
  }

  protected override onPacket(packet: Packet): void {
    noteHandshake(this.socket, packet);
    if (packet.type === "open") this.#startHeartbeat();
    // EIO-10: the server asks how far we have read. Engine.IO's own answer would lack what it asks for.
    if (packet.type === "ping" && packet.data !== undefined) return this.#pong(String(packet.data));
    super.onPacket(packet);
  }

  override write(packets: readonly Packet[]): void {
    const due = packets.filter((packet) => !this.#isOwedPong(packet));
    if (due.length === 0) return this.#drain();
    super.write(joinMessages(due, maxPayloadOf(this.socket) ?? 0));
    // From here on this is the session's transport: the upgrade took place.
    if (due.some(({ type }) => type === "upgrade")) this.#takeOver();
  }

  protected override onClose(details?: Parameters<NodeWebSocket["onClose"]>[0]): void {
    this.#heartbeat.stop();
    super.onClose(details);
  }

  /** The last ping of long-polling may be long ago. */
  #takeOver(): void {
    this.#startHeartbeat();
    this.#calmWatchdog();
  }

  #startHeartbeat(): void {
    const handshake = handshakes.get(this.socket);
    if (!handshake) return;
    this.#heartbeat.start(handshake.pingInterval, handshake.pingTimeout);
    this.#calmForMs = handshake.pingInterval;
    this.#calmedAtMs = systemClock.now();
  }

  #beat(): void {
    this.#calmWatchdog();
    this.#pong("");
  }

  #pong(data: string): void {
    try {
      this.doWrite({ type: "pong" }, ENGINE_PONG + data);
    } catch {
      // Closed already, and about to say so.
    }
  }

  /**
   * The server does not ping, and nothing but a ping keeps Engine.IO's own watchdog quiet. It is not to wait for the answer to a
   * beat: that deadline is the heartbeat's, and in a hidden tab, where timers run once a minute, the watchdog would bite first.
   */
  #calmWatchdog(): void {
    this.#calmedAtMs = systemClock.now();
    this.#pongsOwed += 1;
    super.onPacket({ type: "ping" });
  }

  #isOwedPong({ type, data }: Packet): boolean {
    if (type !== "pong" || data !== undefined || this.#pongsOwed === 0) return false;
    this.#pongsOwed -= 1;
    return true;
  }

  /** Engine.IO waits for it, also when there was nothing to write. */
  #drain(): void {
    this.writable = false;
    queueMicrotask(() => {
      this.writable = true;
      this.emitReserved("drain");
    });
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
