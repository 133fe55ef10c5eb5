import { Hono } from "hono";
import { getSignedCookie, setSignedCookie } from "hono/cookie";
import { html } from "hono/html";
import { sign } from "hono/jwt";

interface Env {
  readonly CHAT_ORIGIN: string; // https://chat.example
  readonly JWT_SECRET: string; // the chat's
  readonly SESSION_SECRET: string; // of this Worker alone
  readonly USERS: string; // {"ada": {"name": "Ada", "password": "…"}}: in place of your own table of users
}

const app = new Hono<{ Bindings: Env }>();
const TOKEN_SECONDS = 3600;

app.get("/sign-in", async (c) => {
  const back = addressOfChat(c.req.query("return"), c.env);
  if (!back) return c.text("This is not an address of the chat.", 400);
  const user = await getSignedCookie(c, c.env.SESSION_SECRET, "session");
  return user ? c.redirect(await withToken(back, user, c.env)) : c.html(form(back.href, ""));
});

app.post("/sign-in", async (c) => {
  const { user = "", password, back: given } = await c.req.parseBody<Record<string, string>>();
  const back = addressOfChat(given, c.env);
  if (!back) return c.text("This is not an address of the chat.", 400);
  if (!password || usersOf(c.env).get(user)?.password !== password)
    return c.html(form(back.href, "Wrong user or password."), 403);
  await setSignedCookie(c, "session", user, c.env.SESSION_SECRET, { httpOnly: true, secure: true, sameSite: "Lax" });
  return c.redirect(await withToken(back, user, c.env), 303);
});

/** A link to this page may name any address. Only the chat may get a token. */
function addressOfChat(address: string | undefined, { CHAT_ORIGIN }: Env): URL | undefined {
  if (address === undefined || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  return url.origin === CHAT_ORIGIN ? url : undefined;
}

/** In the fragment, which browsers send to no server. The rest of the address stays: its `state` is the chat's. */
async function withToken(back: URL, user: string, env: Env): Promise<string> {
  const exp = Math.floor(Date.now() / 1000) + TOKEN_SECONDS;
  const token = await sign({ sub: user, name: usersOf(env).get(user)?.name ?? user, exp }, env.JWT_SECRET, "HS256");
  return Object.assign(new URL(back), { hash: `token=${token}` }).href;
}

const usersOf = ({ USERS }: Env): Map<string, { name: string; password: string }> =>
  new Map(Object.entries(JSON.parse(USERS)));

const form = (back: string, problem: string) =>
  html`<!doctype html>
    <title>Sign in</title>
    <form method="post" action="/sign-in">
      <p>${problem}</p>
      <label>User <input name="user" autocomplete="username" /></label>
      <label>Password <input name="password" type="password" autocomplete="current-password" /></label>
      <input type="hidden" name="back" value="${back}" />
      <button>Sign in</button>
    </form>`;

export default app;
