// Rooms of two kinds in one Worker: everybody's under /chat, and the staff's under /support.
import { ChatRoom, createParley, DeadLetters, Lobby } from "parley-rooms";

import { app, takeLetters, userOf, type Env } from "./app.ts";

export { ChatRoom, DeadLetters, Lobby };

const DESKS = { lobby: "SUPPORT_LOBBY", files: false, relayQueue: false } as const;

export class SupportRoom extends ChatRoom {
  static override readonly bindings = DESKS;
}
export class SupportLobby extends Lobby {}

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
    (await chat.handle(request, env, ctx)) ?? (await support.handle(request, env, ctx)) ?? app.fetch(request, env, ctx),
  queue: async (batch, env) => {
    if (!(await chat.handleQueue(batch, env))) await takeLetters(batch);
  },
} satisfies ExportedHandler<Env>;
