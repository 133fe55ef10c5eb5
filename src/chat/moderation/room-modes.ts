// Read-only rooms, where only moderators speak (MOD-7), and slow mode, where each user posts once in so many seconds (MOD-8).
// Called by requests.ts before each request; moderation.ts sets the modes.
import type { Answer, ErrorAnswer, RoomModes } from "../../protocol/chat-events.ts";
import { LastPosts } from "./last-posts.ts";
import { refuse } from "../room/answers.ts";
import { isSpeech, type Caller, type Reply } from "../room/operation.ts";
import { mayModerate } from "../room/roles.ts";
import type { Feature } from "../room/feature.ts";
import type { Room } from "../room/room.ts";

const KEY = "moderation:modes";

const DEFAULT: RoomModes = { slowModeSeconds: 0, readOnly: false };

export class Modes implements Feature {
  readonly #room: Room;
  readonly #lastPosts: LastPosts;
  /** Read when it first matters. */
  #current: RoomModes | undefined;

  constructor(room: Room) {
    this.#room = room;
    this.#lastPosts = new LastPosts(room.log, room.report);
  }

  get current(): RoomModes {
    return (this.#current ??= (this.#room.state.get(KEY) as RoomModes | undefined) ?? DEFAULT);
  }

  set(modes: RoomModes): void {
    const { slowModeSeconds } = this.current;
    this.#room.state.put(KEY, modes);
    this.#current = modes;
    if (modes.slowModeSeconds !== slowModeSeconds) this.#lastPosts.forget();
  }

  refuse(event: string, caller: Caller): ErrorAnswer | undefined {
    if (!isSpeech(event) || mayModerate(caller)) return undefined;
    if (this.current.readOnly) return refuse("ROOM_READ_ONLY", "Only moderators may speak in this room now.");
    return event === "chat-message" ? this.#refuseHasty(caller) : undefined;
  }

  #refuseHasty({ user }: Caller): ErrorAnswer | undefined {
    const lastMs = this.#lastPostOf(user);
    if (lastMs === undefined) return undefined;
    const { slowModeSeconds } = this.current;
    const waitMs = lastMs + slowModeSeconds * 1000 - this.#room.now();
    return refuse("SLOW_MODE", `Slow mode: one message every ${slowModeSeconds} seconds.`, waitMs);
  }

  /** A post counts from the moment it is taken, and no more if it fails (MOD-8). */
  follow(event: string, caller: Caller): Reply<Answer<object>> | undefined {
    if (event !== "chat-message" || this.current.slowModeSeconds === 0 || mayModerate(caller)) return undefined;
    const { user } = caller;
    // A repeat of a post that counts already.
    if (this.#lastPostOf(user) !== undefined) return undefined;
    this.#lastPosts.note(user, this.#room.now());
    return (answer) => this.#lastPosts.note(user, (answer as { readonly timestamp?: number }).timestamp);
  }

  /** When a user posted, where that was within the time that slow mode asks for. */
  #lastPostOf(user: string): number | undefined {
    const windowMs = this.current.slowModeSeconds * 1000;
    return windowMs === 0 ? undefined : this.#lastPosts.of(user, { nowMs: this.#room.now(), windowMs });
  }
}
