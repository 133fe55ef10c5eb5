// A Worker with Hono that has users, routes and a queue of its own, and two chats.
import { Hono } from "hono";

import { ChatRoom } from "../../../durable/chat-room.ts";
import { Lobby } from "../../../durable/lobby.ts";
import type { Authenticate } from "../../../src/worker/mount.ts";
import { createParley } from "../../../src/worker/parley.ts";

export { DeadLetters } from "../../../durable/dead-letters.ts";
export { ChatRoom, Lobby };

/** Bound as DESKS; the class finds its own rooms by its name. */
export class SupportRoom extends ChatRoom {
  static override readonly bindings = { lobby: "SUPPORT_LOBBY", files: false, relayQueue: false } as const;
}
export class SupportLobby extends Lobby {}

/** Tests say in a header whom the Worker knows, as JSON. */
const authenticate: Authenticate<Cloudflare.Env> = async (request) => {
  const session = request.headers.get("x-acme-session");
  return session === null ? undefined : JSON.parse(session);
};

const chat = createParley({ basePath: "/chat", authenticate, queues: { relay: "acme-between-rooms" } });

const support = createParley({
  basePath: "/support",
  // Staff only.
  authenticate: async (request, env) => {
    const user = await authenticate(request, env);
    return user?.role === "moderator" || user?.role === "service" ? user : undefined;
  },
  bindings: { room: "DESKS", lobby: "SUPPORT_LOBBY", files: false, relayQueue: false },
  queues: {},
});

const app = new Hono<{ Bindings: Cloudflare.Env }>();
app.get("/", (c) => c.text("Acme's home"));
app.get("/api/rooms", (c) => c.text("Acme's meeting rooms"));
app.get("/chat", (c) => c.text("Acme's chat page"));
app.get("/chat/about", (c) => c.text("Acme's rules of conduct"));
app.get("/chatter", (c) => c.text("Acme's gossip"));
app.get("/letters", (c) => c.text(letters.join()));
app.post("/letters", async (c) => {
  await c.env.LETTERS.send(await c.req.text());
  return c.text("sent");
});

const letters: unknown[] = [];

export default {
  fetch: async (request, env, ctx) =>
    (await chat.handle(request, env, ctx)) ?? (await support.handle(request, env, ctx)) ?? app.fetch(request, env, ctx),
  queue: async (batch, env) => {
    if (await chat.handleQueue(batch, env)) return;
    for (const { body } of batch.messages) letters.push(body);
  },
} satisfies ExportedHandler<Cloudflare.Env>;
