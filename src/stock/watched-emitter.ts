// An emitter that knows whether anybody listens to the packets that leave. Extended by connections, their transports and the server: each
// recipient of an event would otherwise pay for six events, to which mostly nobody listens.
import { EventEmitter } from "node:events";

const WATCHED: ReadonlySet<string> = new Set(["packetCreate", "flush", "drain", "ready"]);

type Listener = (...args: never) => void;

export class WatchedEmitter extends EventEmitter {
  /** Whether anybody ever listened to one of these. */
  isWatched = false;

  override on(event: string, listener: Listener): this {
    this.isWatched ||= WATCHED.has(event);
    return super.on(event, listener);
  }

  override addListener(event: string, listener: Listener): this {
    return this.on(event, listener);
  }

  override prependListener(event: string, listener: Listener): this {
    this.isWatched ||= WATCHED.has(event);
    return super.prependListener(event, listener);
  }
}
