// The entry of the deployment: the Worker and the classes of its Durable Objects.
export { ChatRoom } from "../durable/chat-room.ts";
export { Lobby } from "../durable/lobby.ts";
export { default } from "./worker/app.ts";
