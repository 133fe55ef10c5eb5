// The entry `parley-rooms`: the chat for a Worker, with all that a deployment usually has. Applications import it, this repository's
// src/index.ts among them.
import { chatRoomWith } from "../../durable/room-class.ts";
import { defaultFeatures } from "../features/default.ts";
import type { ParleyOptions } from "../worker/mount.ts";
import { parleyOf, type Parley } from "./parley.ts";

export * from "./common.ts";
export { defaultFeatures };

/**
 * The chat at the root of the Worker, with tokens, unless `options` say otherwise. To be called once, beside the exported classes, because
 * limits count in what it returns.
 * @param options without `features` there are `defaultFeatures()`
 * @throws Error for a bad option, which it names
 */
export function createParley<Env = Cloudflare.Env>(options: ParleyOptions<Env> = {}): Parley<Env> {
  return parleyOf(options, defaultFeatures());
}

/**
 * The class of the rooms, with `defaultFeatures()`. With other features: `ChatRoom` of createParley's result.
 * @typeParam Own the bindings that a subclass uses
 */
export class ChatRoom<Own = Cloudflare.Env> extends chatRoomWith(defaultFeatures())<Own> {}
