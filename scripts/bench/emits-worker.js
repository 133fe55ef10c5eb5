// A Durable Object that emits to an empty channel, as often as a request asks for. Plain JavaScript: esbuild bundles it.
import { connectionStateRecovery, Namespace, SocketIoObject } from "parley-rooms/socketio";

const FLUSH_EVERY = 1000;
/** Emits that cross to another room in one call. */
const RELAY_PACK = 100;

class Emitter extends Namespace {
  handlers = {};
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

export class EmittingRoom extends SocketIoObject {
  namespaces = { "/": new Emitter() };
  recovery = this.ctx.id.name === "stored" ? connectionStateRecovery() : undefined;

  async fetch(request) {
    const query = new URL(request.url).searchParams;
    const [count, chars] = [Number(query.get("count")), Number(query.get("chars"))];
    const relay = query.has("relayed") && new Relay(this.env.ROOM.getByName("other"));
    const text = "x".repeat(chars);
    for (let i = 1; i <= count; i++) {
      this.namespaces["/"].to("nobody").emit("message", text);
      if (relay) relay.push(text);
      if (i % FLUSH_EVERY === 0) await (relay ? relay.flush() : this.ctx.storage.sync());
    }
    if (relay) await relay.flush();
    return new Response("done");
  }

  /** The events of another room. */
  relayed(texts) {
    for (const text of texts) this.namespaces["/"].to("nobody").emit("message", text);
  }
}

export default {
  fetch: (request, env) =>
    env.ROOM.getByName(new URL(request.url).searchParams.has("stored") ? "stored" : "memory").fetch(request),
};
