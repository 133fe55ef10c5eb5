// The exports that `parley-rooms` and `parley-rooms/bare` share: all but createParley and the class of rooms. Read by chat.ts and bare.ts.
export type { Parley } from "./parley.ts";
export type { Authenticate, HostAsked, HostUser, ParleyOptions, QueueNames } from "../worker/mount.ts";
export type { BindingNames } from "../rpc/bindings.ts";
export { RoomShard } from "../../durable/room-shard.ts";
export { Lobby } from "../features/directory/object.ts";
export { Announcements } from "../features/announcements/object.ts";
export { DeadLetters } from "../features/dead-letters/object.ts";
export { byHttp, type HttpRule } from "../objects/by-http.ts";
export type { BeforePost, PostContext, PostDraft, PostRules, PostVerdict } from "../chat/room/post-decision.ts";
export { announcements } from "../features/announcements/index.ts";
export { directMessages } from "../features/direct-messages/index.ts";
export { directory } from "../features/directory/index.ts";
export { pins } from "../features/pins/index.ts";
export { relay } from "../features/relay/index.ts";
export { reports } from "../features/reports/index.ts";
export { search } from "../features/search/index.ts";
export { webhooks } from "../features/webhooks/index.ts";
export * from "../extension/extension.ts";
