// The Worker that compare-workerd.ts times: a bare room of hibernating sockets that sends each text to every member.
// Plain JavaScript, because workerd loads this file as it is (see config.capnp).
import { DurableObject } from "cloudflare:workers";

const WINDOW_MS = 20;

export class Room extends DurableObject {
  batched = false;
  pending = [];

  fetch(request) {
    this.batched = new URL(request.url).pathname === "/batched";
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    return new Response(null, { status: 101, webSocket: client });
  }

  webSocketMessage(_socket, text) {
    if (!this.batched) return this.fanOut(text);
    this.pending.push(text);
    if (this.pending.length === 1) setTimeout(() => this.flush(), WINDOW_MS);
  }

  flush() {
    const frame = this.pending.join("\x1e");
    this.pending = [];
    this.fanOut(frame);
  }

  fanOut(frame) {
    for (const socket of this.ctx.getWebSockets()) {
      try {
        socket.send(frame);
      } catch {
        // A member that has just gone: the others still get theirs.
      }
    }
  }
}

export default {
  fetch: (request, env) => env.ROOM.getByName("room").fetch(request),
};
