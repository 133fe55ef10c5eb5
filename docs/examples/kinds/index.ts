// Rooms of three kinds in one Worker: the public chat under /chat, the staff's under /support, and boards under /boards.
import { ChatRoom, createParley, DeadLetters, Lobby } from "parley-rooms";
import { connect, Namespace, SocketIoObject, type Handlers } from "parley-rooms/socketio";

import { app, takeLetters, userOf, type Acme } from "./app.ts";

interface Env extends Acme {
  readonly BOARDS: DurableObjectNamespace<BoardObject>;
}

export { ChatRoom, DeadLetters, Lobby };

const DESKS = { lobby: "SUPPORT_LOBBY", files: false, relayQueue: false } as const;

export class SupportRoom extends ChatRoom {
  static override readonly bindings = DESKS;
}
export class SupportLobby extends Lobby {}

class Board extends Namespace {
  handlers: Handlers = { draw: (socket, line) => socket.broadcast.emit("draw", line, socket.user) };
}
export class BoardObject extends SocketIoObject<Env> {
  namespaces = { "/": new Board() };
}

const chat = createParley<Env>({
  basePath: "/chat",
  authenticate: userOf,
  queues: { relay: "acme-between-rooms" },
});

const support = createParley<Env>({
  basePath: "/support",
  authenticate: (request) => {
    const user = userOf(request);
    return user?.role === "moderator" || user?.role === "service" ? user : undefined;
  },
  bindings: { room: "DESKS", ...DESKS },
  queues: {},
});

export default {
  fetch: async (request, env, ctx) =>
    (await chat.handle(request, env, ctx)) ??
    (await support.handle(request, env, ctx)) ??
    connect(request, {
      path: "/boards",
      object: (room) => env.BOARDS.getByName(room),
      authenticate: userOf,
      otherwise: () => app.fetch(request, env, ctx),
    }),
  queue: async (batch, env) => {
    if (!(await chat.handleQueue(batch, env))) await takeLetters(batch);
  },
} satisfies ExportedHandler<Env>;
