// Acme's own Worker, before any chat is in it: pages, letters in a queue, and users.
import { Hono } from "hono";
import type { HostUser } from "parley-rooms";

export interface Acme {
  readonly LETTERS: Queue<string>;
}

export const app = new Hono<{ Bindings: Acme }>();

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

export async function takeLetters({ messages }: MessageBatch): Promise<void> {
  letters.push(...messages.map(({ body }) => body));
}

/** A gateway in front of the Worker signs users in, and names them in a header. */
export function userOf(request: Request): HostUser | undefined {
  const session = request.headers.get("x-acme-session");
  return session === null ? undefined : (JSON.parse(session) as HostUser);
}
