// Refuses posts, edits, reactions, typing and uploads of muted users: MOD-6. Called by requests.ts before each request.
import type { ErrorAnswer } from "../../protocol/chat-events.ts";
import { refuse } from "../room/answers.ts";
import { isSpeech, type Caller } from "../room/operation.ts";
import type { Feature } from "../room/feature.ts";
import type { Room } from "../room/room.ts";

export class Mutes implements Feature {
  readonly #room: Room;

  constructor(room: Room) {
    this.#room = room;
  }

  refuse(event: string, caller: Caller): ErrorAnswer | undefined {
    const mute = isSpeech(event) ? this.#room.sanctions.muteOf(caller) : undefined;
    if (!mute) return undefined;
    const waitMs = mute.untilMs === undefined ? undefined : mute.untilMs - this.#room.now();
    return refuse("MUTED", "You are muted in this room.", waitMs);
  }
}
