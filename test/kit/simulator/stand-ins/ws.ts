// Replaces `ws` for socket.io-client.
export { ClientWebSocket as WebSocket } from "../network.ts";
