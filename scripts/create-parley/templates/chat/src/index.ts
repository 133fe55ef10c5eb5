// The Worker: the chat at its root, with the page to chat on beside it.
import { createParley } from "parley-rooms";

import { setupPage } from "./setup-page.ts";

export { ChatRoom } from "./chat-room.ts";
export { Announcements, DeadLetters, Lobby, RoomShard } from "parley-rooms";

// Users come with tokens that your backend signs with JWT_SECRET. To know them by a session of your own instead:
// createParley({ authenticate: async (request, env) => ({ user: "ada", name: "Ada" }) })
const parley = createParley();

export default {
  async fetch(request, env, ctx) {
    const answer = await parley.handle(request, env, ctx);
    if (answer) return answer;
    return env.JWT_SECRET ? env.ASSETS.fetch(request) : setupPage(request);
  },
  queue: parley.queue,
} satisfies ExportedHandler<Env>;
