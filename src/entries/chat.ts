// The entry `parley-rooms`: the chat for a Worker. Applications import it, this repository's src/index.ts among them.
export { createParley, type Parley } from "../worker/parley.ts";
export type { Authenticate, HostAsked, HostUser, ParleyOptions, QueueNames } from "../worker/mount.ts";
export type { BindingNames } from "../rpc/bindings.ts";
export { ChatRoom } from "../../durable/chat-room.ts";
export { RoomShard } from "../../durable/room-shard.ts";
export { Lobby } from "../../durable/lobby.ts";
export { Announcements } from "../../durable/announcements.ts";
export { DeadLetters } from "../../durable/dead-letters.ts";
export { byHttp, type HttpRule } from "../../durable/by-http.ts";
export type { BeforePost, PostContext, PostDraft, PostRules, PostVerdict } from "../chat/room/verdict.ts";
export * from "../extension/extension.ts";
