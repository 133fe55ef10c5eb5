// The entry `parley-rooms/bare`: the chat with those features alone that createParley is given. What is left out is not bundled.
import type { ParleyOptions } from "../worker/mount.ts";
import { parleyOf, type Parley } from "./parley.ts";

export * from "./common.ts";

/**
 * The chat at the root of the Worker, with tokens, unless `options` say otherwise. To be called once, beside the exported classes, because
 * limits count in what it returns.
 * @param options without `features` there are none
 * @throws Error for a bad option, which it names
 */
export function createParley<Env = Cloudflare.Env>(options: ParleyOptions<Env> = {}): Parley<Env> {
  return parleyOf(options, []);
}
