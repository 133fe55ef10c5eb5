// The ES module served at GET /client.js: everything an application may import. Its types are api.ts and chat-events.ts.
export { connectDirect } from "./direct.ts";
export { connectRoom } from "./room.ts";
