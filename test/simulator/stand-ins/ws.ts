// What socket.io-client takes from `ws`.
export { ClientWebSocket as WebSocket } from "../network.ts";
