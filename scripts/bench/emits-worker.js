// A Durable Object that emits to a channel where nobody is, as often as it is told. Plain JavaScript: esbuild bundles it.
import { SocketObject } from "../../durable/socketio/socket-object.ts";
import { SqlRecoveryLog } from "../../durable/socketio/sql-recovery-log.ts";
import { Recovery } from "../../src/socketio/recovery/recovery.ts";
import { Namespace } from "../../src/socketio/server/namespace.ts";
import { Server } from "../../src/socketio/server/server.ts";

const FLUSH_EVERY = 1000;
/** Emits that cross to another room in one call. */
const RELAY_PACK = 100;
const OPTIONS = {
  pingIntervalMs: 45_000,
  pingTimeoutMs: 30_000,
  connectTimeoutMs: 10_000,
  maxPayloadBytes: 65_536,
  maxConnectionsPerIp: 0,
  transports: ["websocket"],
};
const WINDOW_MS = 120_000;

class Emitter extends Namespace {
  authenticate = "anybody";
  handlers = {};
  authorize = () => ({ accepted: true, data: {} });

  constructor(log) {
    super();
    if (log) this.recovery = new Recovery(log, WINDOW_MS);
  }
}

/** To another room by direct calls, several emits in each. */
class Relay {
  #room;
  #texts = [];
  #calls = [];

  constructor(room) {
    this.#room = room;
  }

  push(text) {
    this.#texts.push(text);
    if (this.#texts.length === RELAY_PACK) this.#send();
  }

  #send() {
    this.#calls.push(this.#room.relayed(this.#texts));
    this.#texts = [];
  }

  async flush() {
    if (this.#texts.length > 0) this.#send();
    await Promise.all(this.#calls);
    this.#calls = [];
  }
}

export class EmittingRoom extends SocketObject {
  #emitter;

  constructor(ctx, env) {
    let emitter;
    super(ctx, env, (_ctx, _env, ports) => {
      const newName = () => crypto.randomUUID().replaceAll("-", "");
      const isStored = ctx.id.name === "stored";
      const log = isStored && new SqlRecoveryLog(ctx.storage, { windowMs: WINDOW_MS, now: () => ports.now(), newName });
      emitter = new Emitter(log);
      return { server: new Server(OPTIONS, { static: { "/": emitter } }, ports), limits: OPTIONS };
    });
    this.#emitter = emitter;
  }

  async fetch(request) {
    const query = new URL(request.url).searchParams;
    const [count, chars] = [Number(query.get("count")), Number(query.get("chars"))];
    const relay = query.has("relayed") && new Relay(this.env.ROOM.getByName("other"));
    const text = "x".repeat(chars);
    for (let i = 1; i <= count; i++) {
      this.#emitter.to("nobody").emit("message", text);
      if (relay) relay.push(text);
      if (i % FLUSH_EVERY === 0) await (relay ? relay.flush() : this.ctx.storage.sync());
    }
    if (relay) await relay.flush();
    return new Response("done");
  }

  /** What another room emitted. */
  relayed(texts) {
    for (const text of texts) this.#emitter.to("nobody").emit("message", text);
  }
}

export default {
  fetch: (request, env) =>
    env.ROOM.getByName(new URL(request.url).searchParams.has("stored") ? "stored" : "memory").fetch(request),
};
