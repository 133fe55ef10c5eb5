import { createParley } from "parley-rooms";
export { ChatRoom } from "parley-rooms"; // bound as CHAT_ROOM; compatibility_flags = ["no_web_socket_compression"]
const parley = createParley({ basePath: "/chat", authenticate: () => ({ user: "ada", name: "Ada" }) }); // everybody is Ada: your users go here
export default { fetch: async (request, env) => (await parley.handle(request, env)) ?? new Response("mine") };
