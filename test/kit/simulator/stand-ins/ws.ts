// Takes the place of `ws` for socket.io-client.
export { ClientWebSocket as WebSocket } from "../client-web-socket.ts";
