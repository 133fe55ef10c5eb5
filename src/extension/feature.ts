// A feature as createParley takes it, in `features`: what a deployment may leave out of the chat, or add to it. The built-in
// ones (src/features) and those of applications have this form.
import type { RoomHandle } from "./feature-room.ts";
import type { AnyFeature } from "./room-feature.ts";

export interface Feature {
  /** Unique among the features of a deployment. */
  readonly name: string;
  /** Makes its part of a room, when the room starts or wakes, and when it was deleted: `(room) => new Polls(room)`. */
  readonly room?: (room: RoomHandle) => AnyFeature;
}
