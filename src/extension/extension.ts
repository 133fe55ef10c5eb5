// Everything that a custom feature may use. `parley-rooms` and `parley-rooms/features` export all of it; a feature imports
// nothing else of this project.
export { normalContent } from "../protocol/message.ts";
export { refuse } from "../protocol/refuse.ts";
export { isFullFor, type Held, type Party, type ShareLimits } from "../protocol/shares.ts";
export type { Answer, AnswerCode, ErrorAnswer, Message, Role } from "../protocol/chat-events.ts";
export type * from "./events-of.ts";
export type { Feature } from "./feature.ts";
export type * from "./feature-room.ts";
export { isRoomFeature, RoomFeature, type AnyFeature } from "./room-feature.ts";
export { roomEvent, type Callers, type RoomEvent } from "./room-event.ts";
