// The objects and functions of the product that the simulator's bundle contains besides the clients.
export { ChatRoom } from "../../../durable/chat-room.ts";
export { RuledRoom } from "./ruled-room.ts";
export { DeadLetters } from "../../../durable/dead-letters.ts";
export { Lobby } from "../../../durable/lobby.ts";
export { SqlMessageLog } from "../../../durable/sql/sql-message-log.ts";
export { deliverRelay } from "../../../src/worker/queue/relay.ts";
