// A connection as the package socket.io and its applications see it: `socket.conn`, with the events of Engine.IO. Made by layer.ts.
import { POLL_QUEUE_BYTES_MAX } from "../socketio/engine/poll-queue.ts";
import type { Frame } from "../socketio/wire/engine-io.ts";
import type { EngineServer, EngineTransportName } from "./engine-server.ts";
import type { EngineRequest } from "./node-request.ts";
import { isRestoring } from "./timers.ts";
import { WatchedEmitter } from "./watched-emitter.ts";

/** A packet on its way. */
export interface EnginePacket {
  readonly type: string;
  readonly data?: Frame;
  readonly options?: WriteOptions;
}

interface WriteOptions {
  compress?: boolean;
  readonly volatile?: boolean;
}

/** What an application may write: bytes in any form, or what has a text. */
export type Written = ArrayBuffer | ArrayBufferView | string | number | boolean | null | undefined;

type Sent = (transport: EngineTransport) => void;

/** The session under a connection. */
export interface Line {
  /** Whether the client of long-polling waits for packets at this moment. */
  isPollWaiting(): boolean;
  /** Sends the data of messages at the end of the running code, and calls `left` of the connection then. */
  send(messages: readonly Frame[]): void;
  /**
   * Sends what is on its way, or discards it, and ends the session.
   * @param isLate whether the application closed the connection when no packet could reach the client
   */
  close(isLate: boolean, discard?: boolean): void;
  isUpgrading(): boolean;
  /** From now on events to the socket in that namespace leave in bundles. */
  bundle(nsp: string, isRecoverable: boolean): void;
  unbundle(nsp: string): void;
}

export class EngineTransport extends WatchedEmitter {
  readonly name: EngineTransportName;
  readyState: "open" | "closed" = "open";
  /** Whether packets are on their way to it: until they have left, it takes no further ones. */
  isSending = false;
  readonly #line: Line;

  constructor(name: EngineTransportName, line: Line) {
    super();
    this.name = name;
    this.#line = line;
  }

  /** A volatile event is sent only where this is true. */
  get writable(): boolean {
    return this.readyState === "open" && !this.isSending && (this.name === "websocket" || this.#line.isPollWaiting());
  }

  closed(): void {
    this.readyState = "closed";
    this.emit("close");
  }
}

export class EngineSocket extends WatchedEmitter {
  readonly id: string;
  readonly server: EngineServer;
  readonly request: EngineRequest;
  readonly protocol = 4;
  readonly remoteAddress: string;
  transport: EngineTransport;
  readyState: "open" | "closing" | "closed" = "open";
  upgraded = false;
  writeBuffer: EnginePacket[] = [];
  /** Bytes or characters in it. */
  #waiting = 0;
  /** Callbacks of what waits there. */
  #sent: Sent[] = [];
  /** Those of what is on its way. */
  #leaving: Sent[] = [];
  readonly #line: Line;

  constructor(
    server: EngineServer,
    request: EngineRequest,
    { id, transport }: { id: string; transport: EngineTransportName },
    line: Line,
  ) {
    super();
    this.id = id;
    this.server = server;
    this.request = request;
    this.remoteAddress = request.connection.remoteAddress;
    this.transport = new EngineTransport(transport, line);
    this.#line = line;
  }

  get upgrading(): boolean {
    return this.#line.isUpgrading();
  }

  /** Sends a message. `sent` is called when it has left. */
  write(data: Written, options: WriteOptions | Sent = {}, sent?: Sent): this {
    if (typeof options === "function") return this.write(data, {}, options);
    // Its client has got before the sleep what a socket is sent that is restored.
    if (this.readyState !== "open" || isRestoring()) return this;
    if (sent) this.#sent.push(sent);
    const frame = frameOf(data);
    // So an event to many passes here with each of them.
    const isSeen = this.isWatched || this.server.isWatched;
    if (this.transport.writable && this.writeBuffer.length === 0 && !isSeen) this.#leave([frame]);
    else {
      // As on Node, the caller's own options are in the packet, and say that it may be compressed.
      options.compress = options.compress !== false;
      const packet: EnginePacket = { type: "message", options, data: frame };
      this.emit("packetCreate", packet);
      this.writeBuffer.push(packet);
      this.#waiting += frame.length;
      this.#flush();
    }
    return this;
  }

  send(data: Written, options?: WriteOptions | Sent, sent?: Sent): this {
    return this.write(data, options, sent);
  }

  /** @param isDue whether what waits leaves even if packets are on their way */
  #flush(isDue = false): void {
    if (this.writeBuffer.length === 0) return;
    // So much goes to the session's queue even so: it ends a session whose client leaves too much unfetched.
    const isTooMuch = this.transport.name === "polling" && this.#waiting > POLL_QUEUE_BYTES_MAX;
    if (!this.transport.writable && !isTooMuch && !isDue) return;
    this.emit("flush", this.writeBuffer);
    this.server.emit("flush", this, this.writeBuffer);
    this.#leave(this.#takeWaiting());
    this.emit("drain");
    this.server.emit("drain", this);
  }

  #takeWaiting(): Frame[] {
    const messages = this.writeBuffer.flatMap(({ data }) => data ?? []);
    this.writeBuffer = [];
    this.#waiting = 0;
    return messages;
  }

  #leave(messages: readonly Frame[]): void {
    if (this.#sent.length > 0) {
      this.#leaving.push(...this.#sent);
      this.#sent = [];
    }
    this.transport.isSending = true;
    this.#line.send(messages);
  }

  /** @param discard sends nothing more */
  close(discard = false): void {
    if (this.readyState === "closed" || (this.readyState === "closing" && !discard)) return;
    const { writable, name } = this.transport;
    this.readyState = "closing";
    if (discard) this.#line.close(true, true);
    else if (writable || (name === "websocket" && this.writeBuffer.length === 0)) this.#line.close(false);
    // While packets wait, `close` returns before the application is notified of the end, as on Node.
    else if (name === "websocket" || this.#line.isPollWaiting()) void Promise.resolve().then(() => this.#end());
    // Otherwise the next poll ends it, or the upgrade, or a ping without an answer.
  }

  /** Sends what waits, and ends the session. */
  #end(): void {
    if (this.writeBuffer.length > 0) this.#line.send(this.#takeWaiting());
    this.#line.close(true);
  }

  // ---- called by bundles.ts -------------------------------------------------------------------------------

  bundle(nsp: string, isRecoverable: boolean): void {
    this.#line.bundle(nsp, isRecoverable);
  }

  unbundle(nsp: string): void {
    this.#line.unbundle(nsp);
  }

  // ---- called by the layer --------------------------------------------------------------------------------

  /** Called before what is on its way leaves: what waits goes with it. */
  sendWaiting(): void {
    this.#flush(true);
  }

  /** What was sent has left. */
  left(): void {
    // Perhaps the one of an upgrade meanwhile.
    const { transport } = this;
    // What was not sent before the end has no callbacks.
    if (!transport.isSending || this.readyState === "closed") return;
    try {
      if (this.#leaving.length > 0) {
        const calls = this.#leaving;
        this.#leaving = [];
        for (const call of calls) call(transport);
      }
      if (transport.isWatched) transport.emit("drain");
    } finally {
      transport.isSending = false;
    }
    if (transport.isWatched) transport.emit("ready");
    this.#flush();
  }

  /** A poll waits, or a WebSocket has taken over. */
  polled(): void {
    if (this.readyState === "closing") this.#end();
    else this.#flush();
  }

  received(packet: EnginePacket): void {
    if (this.readyState !== "open") return;
    this.emit("packet", packet);
    if (packet.type === "pong") this.emit("heartbeat");
    if (packet.type !== "message") return;
    this.emit("data", packet.data);
    this.emit("message", packet.data);
  }

  upgradedTo(transport: EngineTransport): void {
    this.transport.closed();
    transport.isSending = this.transport.isSending;
    this.transport = transport;
    this.upgraded = true;
    this.emit("upgrade", transport);
    this.polled();
  }

  ended(reason: string, description: unknown): void {
    this.readyState = "closed";
    this.transport.closed();
    this.#sent = [];
    this.#leaving = [];
    this.emit("close", reason, description);
    this.writeBuffer = [];
  }
}

export function frameOf(data: Written): Frame {
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  // As on Node, what counts as false is an empty message.
  if (!ArrayBuffer.isView(data)) return String(data || "");
  // The same object for each recipient of an event: the layer sends it as one.
  return data instanceof Uint8Array
    ? (data as Uint8Array<ArrayBuffer>)
    : new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
}
