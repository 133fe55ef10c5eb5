// Makes the chat of a Worker from the options of createParley: the Worker's part, and the class of its rooms. Called by the entries
// `parley-rooms` and `parley-rooms/bare`, which differ in the features that they have by default.
import type { ChatRoom } from "../../durable/chat-room.ts";
import { chatRoomWith } from "../../durable/room-class.ts";
import type { Feature } from "../extension/extension.ts";
import type { ParleyOptions } from "../worker/mount.ts";
import { workerPartOf, type WorkerPart } from "../worker/parley.ts";

export interface Parley<Env = Cloudflare.Env> extends WorkerPart<Env> {
  /** The class of the rooms, with these features and these names of bindings: `export class ChatRoom extends parley.ChatRoom {}`. */
  readonly ChatRoom: typeof ChatRoom;
}

/** @throws Error for a bad option, which it names */
export function parleyOf<Env>(options: ParleyOptions<Env>, byDefault: readonly Feature[]): Parley<Env> {
  const { features = byDefault, bindings } = options;
  checkFeatures(features);
  return { ...workerPartOf(options, features), ChatRoom: chatRoomWith(features, bindings) };
}

function checkFeatures(features: readonly Feature[]): void {
  if (!Array.isArray(features)) throw new Error("createParley: features: must be a list");
  const names = new Set<string>();
  for (const [at, feature] of features.entries()) {
    const { name } = (feature ?? {}) as Partial<Feature>;
    if (typeof name !== "string" || typeof feature !== "object")
      throw new Error(`createParley: features[${at}]: must be a feature, as search() is`);
    if (names.has(name)) throw new Error(`createParley: features: there are two called "${name}"`);
    names.add(name);
  }
}
