// The entry `parley-rooms/client`: the chat's client for applications that are built with a bundler, or run in Node. The pages of this
// repository import nothing else of it.
export { baseOf } from "../core/base.ts";
export { claimsOf, type Claims } from "../core/claims.ts";
export { connectDirect } from "../core/direct.ts";
export { extendedTransports } from "../core/extended-transports.ts";
export { connectRoom } from "../core/room.ts";
export {
  followRooms,
  type FollowOptions,
  type MentionsAnswer,
  type MentionsQuery,
  type OwnRooms,
  type RoomsQuery,
} from "../core/own-rooms.ts";
export { unsentOf, type UnsentMessages } from "../core/unsent.ts";
export { settledNow } from "../store/answers.ts";
export { linkIn } from "../store/link-cards.ts";
export { blocksOf, lineOf, parseMarkup, type Block, type Inline } from "../store/markup.ts";
export { readersOf } from "../store/read-marks.ts";
export type { Replies } from "../store/replies.ts";
export { attachmentsOf, fileNamesOf, normalContent, threadOf } from "../../src/protocol/message.ts";
export { createRoomStore } from "../store/room-store.ts";
export { createRoomsSearch, type RoomsSearch, type RoomsSearchState, type Sought } from "../store/rooms-search.ts";
export { speaksTo, unreadOf, type Unread } from "../store/unread.ts";
export { MESSAGE_FILES_MAX } from "../../src/protocol/limits.ts";
export { DEFAULT_ROOM, isRoomName } from "../../src/protocol/room-name.ts";
export { canonicalEmoji } from "../../src/protocol/text/characters.ts";
export { initialsOf } from "../../src/protocol/text/initials.ts";
export {
  labelledIn,
  mentionOf,
  mentionsIn,
  openMentionIn,
  relabelled,
  withIds,
  type Labelled,
  type OpenMention,
} from "../../src/protocol/text/mentions.ts";
export type { ClientSocketOf } from "../core/application-types.ts";
export type * from "../core/api.ts";
export type * from "../core/feature-events.ts";
export type * from "../store/api.ts";
export type * from "../store/state.ts";
export type * from "../../src/protocol/chat-events.ts";
export type { LinkCard } from "../../src/protocol/schemas/link-card.ts";
export type { FoundIn } from "../../src/protocol/schemas/found-in.ts";
export type { JoinedRoom } from "../../src/protocol/schemas/unread.ts";

// For operators: the use of rooms, and the namespace in which one watches a room.
export { WATCH_NAMESPACE, WATCH_QUERY, type ConnectionFacts, type WatchedRoom } from "../../src/protocol/watching.ts";
export type { DeadLetter } from "../../src/protocol/schemas/relay.ts";
export type { Cost, RecentUse, RoomUse } from "../../src/protocol/schemas/usage.ts";
