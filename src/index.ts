// The entry of the deployment: the Worker and the classes of its Durable Objects.
import { createParley } from "./worker/parley.ts";

export { Announcements } from "../durable/announcements.ts";
export { ChatRoom } from "../durable/chat-room.ts";
export { DeadLetters } from "../durable/dead-letters.ts";
export { Lobby } from "../durable/lobby.ts";
export default createParley();
