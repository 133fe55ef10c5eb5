// Who may say something just now: not who is muted (MOD-6), nobody but moderators in a read-only room (MOD-7), and in
// slow mode nobody again before their time (MOD-8).
import type { Answer, ErrorAnswer } from "../../protocol/chat-events.ts";
import { refuse } from "../room/answers.ts";
import { UPLOAD } from "../files/attachments.ts";
import { LastPosts } from "../log/last-posts.ts";
import type { Caller, Reply } from "../room/operation.ts";
import { mayModerate } from "./ranks.ts";
import type { Feature, Room } from "../room/room.ts";
import type { Modes } from "./room-modes.ts";
import { bindingRuling } from "./standing.ts";
import type { Standings } from "./standings.ts";

/** The events that say something to others. Who may not speak may still read, and take back what they said. */
const SPEAKING: ReadonlySet<string> = new Set(["chat-message", "edit-message", "react", "typing", UPLOAD]);

export class Speaking implements Feature {
  readonly #room: Room;
  readonly #standings: Standings;
  readonly #modes: Modes;
  readonly #lastPosts: LastPosts;
  #countedSeconds = 0;

  constructor(room: Room, standings: Standings, modes: Modes) {
    this.#room = room;
    this.#standings = standings;
    this.#modes = modes;
    this.#lastPosts = new LastPosts(room.log, room.report);
  }

  refuse(event: string, caller: Caller): ErrorAnswer | undefined {
    if (!SPEAKING.has(event)) return undefined;
    const muted = this.#refuseMuted(caller);
    if (muted || mayModerate(caller)) return muted;
    if (this.#modes.current.readOnly) return refuse("ROOM_READ_ONLY", "Only moderators may speak in this room now.");
    return event === "chat-message" ? this.#refuseHasty(caller) : undefined;
  }

  #refuseMuted({ user, tokenRole }: Caller): ErrorAnswer | undefined {
    const nowMs = this.#room.now();
    const mute = bindingRuling(this.#standings.of(user), "mute", { role: tokenRole, nowMs });
    if (!mute) return undefined;
    return refuse(
      "MUTED",
      "You are muted in this room.",
      mute.untilMs === undefined ? undefined : mute.untilMs - nowMs,
    );
  }

  #refuseHasty({ user }: Caller): ErrorAnswer | undefined {
    const seconds = this.#slowModeSeconds;
    const lastMs = this.#lastPostOf(user);
    if (lastMs === undefined) return undefined;
    const waitMs = lastMs + seconds * 1000 - this.#room.now();
    return refuse("SLOW_MODE", `Slow mode: one message every ${seconds} seconds.`, waitMs);
  }

  /** A post counts from the moment it is taken, and no more if it comes to nothing (MOD-8). */
  follow(event: string, caller: Caller): Reply<Answer<object>> | undefined {
    if (event !== "chat-message" || mayModerate(caller)) return undefined;
    const { user } = caller;
    const isRepeat = (): boolean => this.#lastPostOf(user) !== undefined;
    if (this.#slowModeSeconds === 0 || isRepeat()) return undefined;
    this.#lastPosts.note(user, this.#room.now());
    return (answer) => this.#lastPosts.note(user, (answer as { readonly timestamp?: number }).timestamp);
  }

  #lastPostOf(user: string): number | undefined {
    const windowMs = this.#slowModeSeconds * 1000;
    return windowMs === 0 ? undefined : this.#lastPosts.of(user, { nowMs: this.#room.now(), windowMs });
  }

  get #slowModeSeconds(): number {
    const { slowModeSeconds } = this.#modes.current;
    if (slowModeSeconds !== this.#countedSeconds) {
      this.#countedSeconds = slowModeSeconds;
      this.#lastPosts.forget();
    }
    return slowModeSeconds;
  }
}
