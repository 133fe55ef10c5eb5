// The least that a room of hibernating sockets can be: numbers a message, sends it to all members, acknowledges it. It knows
// no protocol, no user and no storage. Plain JavaScript, which workerd loads as it is.
//   ?room=NAME[&joined]  joined: a window's messages travel to each socket in one frame
//   POST /announce {rooms, event, data}  each room is called once, all at the same time
import { DurableObject } from "cloudflare:workers";

/** As our FLUSH_WINDOW_MS: at once where it was quiet, then once per window. */
const WINDOW_MS = 50;
const SEPARATOR = "\x1e";

export class Room extends DurableObject {
  #messages = [];
  #answers = [];
  #lastSeq = 0;
  #flushedAtMs = 0;
  #timer;
  #isJoined = false;

  fetch(request) {
    this.#isJoined = new URL(request.url).searchParams.has("joined");
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    return new Response(null, { status: 101, webSocket: client });
  }

  announce(event, data) {
    const text = JSON.stringify([event, data]);
    for (const socket of this.ctx.getWebSockets()) socket.send(text);
  }

  webSocketMessage(socket, text) {
    const [, number, content] = JSON.parse(text);
    const [seq, timestamp] = [++this.#lastSeq, Date.now()];
    const id = `3f0c52a1b7e94d6c8a05-${seq}`;
    const [room, sender, name] = ["bench", "somebody", "somebody"];
    this.#messages.push(JSON.stringify(["message", { id, seq, room, sender, name, content, timestamp }]));
    this.#answers.push({ socket, text: JSON.stringify(["ack", number, id, seq, timestamp]) });
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

async function announce(request, env) {
  const { rooms, event, data } = await request.json();
  await Promise.all(rooms.map((room) => env.ROOM.getByName(room).announce(event, data)));
  return new Response("{}", { status: 202 });
}

export default {
  fetch: (request, env) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/announce") return announce(request, env);
    return env.ROOM.getByName(searchParams.get("room")).fetch(request);
  },
};
