// The least that a room of hibernating sockets can be: numbers a message, sends it to all members, acknowledges it. It writes the frames of
// Socket.IO and knows no more of it; no user, no storage. Plain JavaScript, which workerd loads as it is.
//   /socket.io/?room=NAME[&ext=1]  ext: a window's messages travel to each socket in one frame
import { DurableObject } from "cloudflare:workers";

/** As FLUSH_WINDOW_MS: at once after quiet, then once per window. */
const WINDOW_MS = 50;
const SEPARATOR = "\x1e";
const HANDSHAKE = '0{"sid":"bare","upgrades":[],"pingInterval":45000,"pingTimeout":30000,"maxPayload":65536}';

export class Room extends DurableObject {
  #messages = [];
  #answers = [];
  #lastSeq = 0;
  #flushedAtMs = 0;
  #timer;
  #isJoined = false;

  fetch(request) {
    this.#isJoined = new URL(request.url).searchParams.has("ext");
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    // As in Parley, the response goes first: a frame before it costs memory.
    setTimeout(() => server.send(HANDSHAKE), 0);
    return new Response(null, { status: 101, webSocket: client });
  }

  webSocketMessage(socket, text) {
    if (text.startsWith("40")) return socket.send('40{"sid":"bare"}');
    if (!text.startsWith("42")) return;
    const at = text.indexOf("[");
    const [, { content }] = JSON.parse(text.slice(at));
    const [seq, timestamp] = [++this.#lastSeq, Date.now()];
    const id = `3f0c52a1b7e94d6c8a05-${seq}`;
    const message = { id, seq, room: "bench", sender: "somebody", name: "somebody", content, timestamp };
    this.#messages.push(`42${JSON.stringify(["chat-message", message])}`);
    const answer = JSON.stringify([{ ok: true, id, seq, timestamp }]);
    this.#answers.push({ socket, text: `43${text.slice(2, at)}${answer}` });
    const restMs = this.#flushedAtMs + WINDOW_MS - timestamp;
    if (restMs <= 0) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), restMs);
  }

  #flush() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#flushedAtMs = Date.now();
    const frames = this.#isJoined ? [this.#messages.join(SEPARATOR)] : this.#messages;
    for (const socket of this.ctx.getWebSockets()) for (const frame of frames) socket.send(frame);
    for (const { socket, text } of this.#answers) socket.send(text);
    this.#messages = [];
    this.#answers = [];
  }
}

export default {
  fetch: (request, env) => env.ROOM.getByName(new URL(request.url).searchParams.get("room")).fetch(request),
};
