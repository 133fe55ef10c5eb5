// A Worker that knows its users by a cookie and serves the chat page: browser-sign-in.test.ts builds it in the place of the usual entry. Plain
// JavaScript, as scripts/serve/entry.js.
import { createParley } from "../../src/entries/chat.ts";

export { Announcements, ChatRoom, DeadLetters, Lobby, RoomShard } from "../../src/index.ts";

const userOf = (request) => /(?:^|; )user=(\w+)/.exec(request.headers.get("Cookie") ?? "")?.[1];

const parley = createParley({
  authenticate: (request) => {
    const user = userOf(request);
    return user === undefined ? undefined : { user, name: user.toUpperCase() };
  },
});

export const direct = {
  async fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/sign-in") {
      const headers = {
        Location: searchParams.get("return"),
        "Set-Cookie": "user=ada; Path=/; HttpOnly; SameSite=Lax",
      };
      return new Response(null, { status: 303, headers });
    }
    return (await parley.handle(request, env, ctx)) ?? env.ASSETS.fetch(request);
  },
};

export default direct;
