// The entry `parley-rooms`: the chat for a Worker. Applications import it, this repository's src/index.ts among them. A bundle has the code in the
// order of these lines, and compresses by up to a kilobyte better or worse: test/entries/sizes.test.ts measures it.
export { createParley, type Parley } from "../worker/parley.ts";
export type { Authenticate, HostAsked, HostUser, ParleyOptions, QueueNames } from "../worker/mount.ts";
export type { BindingNames } from "../rpc/bindings.ts";
export { RoomShard } from "../../durable/room-shard.ts";
export { byHttp, type HttpRule } from "../../durable/by-http.ts";
export { ChatRoom } from "../../durable/chat-room.ts";
export { Lobby } from "../../durable/lobby.ts";
export * from "../extension/extension.ts";
export { Announcements } from "../../durable/announcements.ts";
export { DeadLetters } from "../../durable/dead-letters.ts";
export type { BeforePost, PostContext, PostDraft, PostRules, PostVerdict } from "../chat/room/verdict.ts";
