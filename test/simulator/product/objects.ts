// The product in the simulator's bundle, besides the client: a project of its own, because its types belong to another platform than those of
// the simulator. Imported as `product:objects`.
export { ChatRoom } from "../../../durable/chat-room.ts";
export { insideOf } from "../../../durable/socketio/inside.ts";
export { FeaturedRoom } from "./featured-room.ts";
export { RoomShard } from "../../../durable/room-shard.ts";
export { RuledRoom } from "./ruled-room.ts";
export { DeadLetters } from "../../../durable/dead-letters.ts";
export { Lobby } from "../../../durable/lobby.ts";
export { SqlMessageLog } from "../../../durable/sql/sql-message-log.ts";
export { createParley } from "../../../src/worker/parley.ts";
