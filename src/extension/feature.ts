// A feature as createParley takes it, in `features`: a part of the chat that a deployment may leave out, or add to its rooms. The built-in
// ones (src/features) and those of applications have this form.
import type { RoomHandle } from "./feature-room.ts";
import type { AnyFeature } from "./room-feature.ts";

export interface Feature {
  /** Unique among the features of a deployment. */
  readonly name: string;
  /** Makes its part of a room, when the room starts or wakes, and when it was deleted: `(room) => new Polls(room)`. */
  readonly room?: (room: RoomHandle) => AnyFeature;
}
