// Whether a room is slow or read-only: one small value, read when it first matters.
import type { RoomModes } from "../../protocol/moderation-events.ts";
import type { RoomState } from "../../storage/room-state.ts";

const KEY = "moderation:modes";

export class Modes {
  readonly #state: RoomState;
  #current: RoomModes | undefined;

  constructor(state: RoomState) {
    this.#state = state;
  }

  get current(): RoomModes {
    return (this.#current ??= (this.#state.get(KEY) as RoomModes | undefined) ?? {
      slowModeSeconds: 0,
      readOnly: false,
    });
  }

  set(modes: RoomModes): void {
    this.#state.put(KEY, modes);
    this.#current = modes;
  }
}
