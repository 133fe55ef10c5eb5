// Who goes on asking however often they are told to wait: refusals cost the room too, so after many of them the user has to
// stay away for a while (LIM-3). In memory only: a room that sleeps is not being flooded.
import type { Answer } from "../../protocol/chat-events.ts";
import type { Refusal } from "../../socketio/server/namespace.ts";
import { deny } from "../room/answers.ts";
import type { Exclusion } from "./exclusion.ts";
import type { Reply } from "../room/operation.ts";
import type { Client, Feature, Membership, Room } from "../room/room.ts";

/** Answers `RATE_LIMITED` that a user may provoke within `FLOOD_WINDOW_MS`: a client that waits as it is told sees a few. */
export const FLOOD_REFUSALS_MAX = 500;
export const FLOOD_WINDOW_MS = 10_000;

/** For how long somebody who went beyond it has to stay away. */
export const FLOOD_PAUSE_MS = 30_000;

/** Users remembered at a time; more of them is not one user's flood. The oldest go first. */
const USERS_MAX = 1000;

const MESSAGE = "Too many requests: connect again after retryAfterMs.";

interface Count {
  readonly refusals: number;
  readonly sinceMs: number;
  /** Until when the user has to stay away, in milliseconds since 1970. */
  readonly untilMs: number;
}

export class Flooding implements Feature {
  readonly #room: Room;
  readonly #exclusion: Exclusion;
  readonly #counts = new Map<string, Count>();

  constructor(room: Room, exclusion: Exclusion) {
    this.#room = room;
    this.#exclusion = exclusion;
  }

  admit({ user }: Pick<Membership, "user">): Refusal | undefined {
    const retryAfterMs = this.#waitMs(user);
    return retryAfterMs > 0 ? deny("RATE_LIMITED", MESSAGE, { retryAfterMs }) : undefined;
  }

  /** The same reply, which counts refusals on its way to the client. */
  counting(client: Client, reply: Reply<Answer<object>>): Reply<Answer<object>> {
    return (answer) => {
      reply(answer);
      if ("error" in answer && answer.error.code === "RATE_LIMITED") this.#refused(client);
    };
  }

  #refused(client: Client): void {
    const { user } = client.peek();
    const nowMs = this.#room.now();
    const { refusals, sinceMs, untilMs } = this.#current(user, nowMs);
    const isFlood = refusals >= FLOOD_REFUSALS_MAX;
    this.#counts.delete(user);
    this.#counts.set(user, { refusals: refusals + 1, sinceMs, untilMs: isFlood ? nowMs + FLOOD_PAUSE_MS : untilMs });
    for (const oldest of this.#counts.keys()) {
      if (this.#counts.size <= USERS_MAX) break;
      this.#counts.delete(oldest);
    }
    if (isFlood)
      this.#exclusion.putOut(client, { code: "RATE_LIMITED", message: MESSAGE, retryAfterMs: FLOOD_PAUSE_MS });
  }

  /** What is counted of a user by now; it begins anew with each window. */
  #current(user: string, nowMs: number): Count {
    const count = this.#counts.get(user);
    // A clock that was set back keeps nobody out for longer.
    const isOver = !count || Math.abs(nowMs - count.sinceMs) >= FLOOD_WINDOW_MS;
    // What another connection of the user is refused does not shorten the pause.
    return isOver ? { refusals: 0, sinceMs: nowMs, untilMs: count?.untilMs ?? 0 } : count;
  }

  #waitMs(user: string): number {
    const waitMs = (this.#counts.get(user)?.untilMs ?? 0) - this.#room.now();
    return waitMs <= FLOOD_PAUSE_MS ? waitMs : 0;
  }
}
