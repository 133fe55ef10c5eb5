import { createParley } from "parley-rooms"; // npm install parley-rooms
export { ChatRoom } from "parley-rooms"; // bound as CHAT_ROOM; compatibility_flags = ["no_web_socket_compression"]
const parley = createParley({ basePath: "/chat", authenticate: () => ({ user: "ada", name: "Ada" }) }); // your users
export default { fetch: async (request, env) => (await parley.handle(request, env)) ?? new Response("mine") };
