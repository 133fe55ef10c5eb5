// A Worker with pages and users of its own, and under /chat the chat, in which no member can say "spam".
import { Hono } from "hono";
import { setSignedCookie } from "hono/cookie";
import { parseSigned } from "hono/utils/cookie";
import { ChatRoom as BaseChatRoom, createParley, type PostDraft, type PostVerdict } from "parley-rooms";

export class ChatRoom extends BaseChatRoom {
  override beforePost({ content }: PostDraft): PostVerdict {
    return content.includes("spam") ? { reject: "No spam here." } : undefined;
  }
}

interface Env {
  readonly SESSION_SECRET: string;
}

const parley = createParley<Env>({
  basePath: "/chat",
  authenticate: async (request, env) => {
    const cookies = request.headers.get("Cookie") ?? "";
    const { session } = await parseSigned(cookies, env.SESSION_SECRET, "session");
    return session ? { user: session } : undefined;
  },
});

const app = new Hono<{ Bindings: Env }>();

app.get("/", (c) => c.text("My own page"));
app.post("/login", async (c) => {
  const { user } = await c.req.json<{ user: string }>(); // and its proof
  await setSignedCookie(c, "session", user, c.env.SESSION_SECRET, { httpOnly: true, secure: true, sameSite: "Lax" });
  return c.text(`Hello, ${user}`);
});
app.all("/chat/*", async (c) => (await parley.handle(c.req.raw, c.env, c.executionCtx)) ?? c.notFound());

export default { fetch: app.fetch };
