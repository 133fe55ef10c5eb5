// The product in the simulator's bundle, besides the client: a project of its own, because its types belong to another platform than those of
// the simulator. Imported as `product:objects`.
export { ChatRoom, createParley } from "../../../src/entries/chat.ts";
export { internalsOf } from "../../../src/socketio/object/internals.ts";
export { FeaturedRoom } from "./featured-room.ts";
export { RoomShard } from "../../../durable/room-shard.ts";
export { RuledRoom } from "./ruled-room.ts";
export { DeadLetters } from "../../../src/features/dead-letters/object.ts";
export { Lobby } from "../../../src/features/directory/object.ts";
export { SqlMessageLog } from "../../../src/objects/sql/sql-message-log.ts";
