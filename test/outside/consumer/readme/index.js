// Both Workers of the README in one, as they are there: /rooms/ belongs to the smallest application, all else to the Worker with the chat.
import app from "../app/index.js";
import literal from "../literal/index.js";

export { ChatRoom } from "../app/index.js";
export { BoardObject } from "../literal/index.js";
export default {
  fetch: (request, env) => (new URL(request.url).pathname.startsWith("/rooms/") ? literal : app).fetch(request, env),
};
