// Disconnects users who flood a room. Made by parts.ts; its hooks run for each connection and each answer.
import { Window } from "../../clock/rates.ts";
import type { Answer } from "../../protocol/chat-events.ts";
import { deny } from "../../protocol/refuse.ts";
import type { Refusal } from "../../socketio/server/namespace.ts";
import type { Caller } from "../room/operation.ts";
import type { RoomPart } from "../room/room-part.ts";
import type { Membership, Room } from "../room/room.ts";
import { disconnect } from "./bans.ts";

/** Answers `RATE_LIMITED` that a user may get within `FLOOD_WINDOW_MS`: a client that waits for `retryAfterMs` gets a few. */
export const FLOOD_REFUSALS_MAX = 500;
export const FLOOD_WINDOW_MS = 10_000;

/** Such a user is refused for so long. */
export const FLOOD_PAUSE_MS = 30_000;

/** Users counted at a time; one more takes the place of the user whose last refusal is longest ago. */
const USERS_MAX = 1000;

const FLOOD_MESSAGE = "Too many requests: connect again after retryAfterMs.";

/**
 * Disconnects a user who keeps sending after hundreds of `RATE_LIMITED` answers, and refuses them for 30 s: an answer costs the room too
 * (LIM-3). In memory only: a room that sleeps is not being flooded.
 */
export class Flooding implements RoomPart {
  readonly #room: Room;
  readonly #refusals = new Window(FLOOD_WINDOW_MS, USERS_MAX);
  readonly #pausedUntilMs = new Map<string, number>();

  constructor(room: Room) {
    this.#room = room;
  }

  admit({ user }: Pick<Membership, "user">): Refusal | undefined {
    const retryAfterMs = this.#waitMs(user);
    return retryAfterMs > 0 ? deny("RATE_LIMITED", FLOOD_MESSAGE, { retryAfterMs }) : undefined;
  }

  onAnswered({ client }: Caller, answer: Answer<object>): void {
    if (!client || !("error" in answer) || answer.error.code !== "RATE_LIMITED") return;
    const { user } = client.peek();
    const nowMs = this.#room.now();
    if (this.#refusals.count(user, nowMs) <= FLOOD_REFUSALS_MAX) return;
    for (const paused of this.#pausedUntilMs.keys()) if (this.#waitMs(paused) <= 0) this.#pausedUntilMs.delete(paused);
    this.#pausedUntilMs.set(user, nowMs + FLOOD_PAUSE_MS);
    disconnect(client, { code: "RATE_LIMITED", message: FLOOD_MESSAGE, retryAfterMs: FLOOD_PAUSE_MS });
  }

  #waitMs(user: string): number {
    const waitMs = (this.#pausedUntilMs.get(user) ?? 0) - this.#room.now();
    // A clock that was set back makes no pause longer.
    return waitMs <= FLOOD_PAUSE_MS ? waitMs : 0;
  }
}
