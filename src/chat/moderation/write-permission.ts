// Decides who may send an event, as its declaration says (`by`). Who may speak in the room now: readers and muted users may not (MOD-6), in a
// read-only room only moderators may (MOD-7), and in slow mode each user posts once in so many seconds (MOD-8). Made by parts.ts; its hooks
// run before each request, and moderation.ts sets the modes.
import { newestSince } from "../log/message-log.ts";
import type { Answer, ErrorAnswer, RoomModes } from "../../protocol/chat-events.ts";
import { isStaff, refuseReader, refuseUnlessModerator } from "../../protocol/roles.ts";
import { refuse } from "../../protocol/refuse.ts";
import type { EventRules, Caller, ChatEvent, Reply } from "../room/operation.ts";
import type { RoomPart } from "../room/room-part.ts";
import type { Room } from "../room/room.ts";

const KEY = "moderation:modes";

const DEFAULT: RoomModes = { slowModeSeconds: 0, readOnly: false };

/** Events that change messages. */
const CHANGES: ReadonlySet<string> = new Set(["edit-message", "delete-message", "react"] satisfies ChatEvent[]);

/** Messages that slow mode reads back at most. A room that was busier than that in one interval forgives the rest. */
const READ_BACK_MAX = 5000;

export class WritePermission implements RoomPart {
  readonly #room: Room;
  /** Read when they are first needed. */
  #modes: RoomModes | undefined;
  /** When each user last posted, the earliest first. Read from the log when slow mode first needs it. */
  #lastPostsMs: Map<string, number> | undefined;

  constructor(room: Room) {
    this.#room = room;
  }

  get modes(): RoomModes {
    return (this.#modes ??= (this.#room.state.get(KEY) as RoomModes | undefined) ?? DEFAULT);
  }

  setModes(modes: RoomModes): void {
    const { slowModeSeconds } = this.modes;
    this.#room.state.put(KEY, modes);
    this.#modes = modes;
    // For another interval the log may have to be read further back.
    if (modes.slowModeSeconds !== slowModeSeconds) this.#lastPostsMs = undefined;
  }

  /** Who may send each event, custom features' events included. */
  refuse(event: EventRules, caller: Caller): ErrorAnswer | undefined {
    const { name } = event;
    return this.#refuseSender(event, caller) ?? (CHANGES.has(name) ? this.#room.refuseChange(name, caller) : undefined);
  }

  #refuseSender({ name, by, verb }: EventRules, caller: Caller): ErrorAnswer | undefined {
    switch (by) {
      case "everyone":
        return undefined;
      case "members":
        return refuseReader(caller, verb);
      case "speakers":
        return this.#refuseNow(name, caller) ?? refuseReader(caller, verb);
      case "moderators":
        return refuseUnlessModerator(caller, verb);
    }
  }

  #refuseNow(event: string, caller: Caller): ErrorAnswer | undefined {
    const mute = this.#room.sanctions.muteOf(caller);
    if (mute) {
      const waitMs = mute.untilMs === undefined ? undefined : mute.untilMs - this.#room.now();
      return refuse("MUTED", "You are muted in this room.", waitMs);
    }
    if (isStaff(caller.role)) return undefined;
    if (this.modes.readOnly) return refuse("ROOM_READ_ONLY", "Only moderators may speak in this room now.");
    const lastMs = event === "chat-message" ? this.#lastPostMs(caller.user) : undefined;
    if (lastMs === undefined) return undefined;
    const { slowModeSeconds } = this.modes;
    const waitMs = lastMs + slowModeSeconds * 1000 - this.#room.now();
    return refuse("SLOW_MODE", `Slow mode: one message every ${slowModeSeconds} seconds.`, waitMs);
  }

  /** A post counts from the moment the room accepts it, and no more if it fails (MOD-8). */
  follow(event: string, caller: Caller): Reply<Answer<object>> | undefined {
    if (event !== "chat-message" || this.modes.slowModeSeconds === 0 || isStaff(caller.role)) return undefined;
    const { user } = caller;
    // A repeat of a post that counts already.
    if (this.#lastPostMs(user) !== undefined) return undefined;
    this.#note(user, this.#room.now());
    return (answer) => this.#note(user, (answer as { readonly timestamp?: number }).timestamp);
  }

  /** When a user last posted; `undefined` where slow mode is off or the interval since then is over. */
  #lastPostMs(user: string): number | undefined {
    const windowMs = this.modes.slowModeSeconds * 1000;
    if (windowMs === 0) return undefined;
    const sinceMs = this.#room.now() - windowMs;
    const lastPostsMs = (this.#lastPostsMs ??= this.#readBack(sinceMs));
    for (const [earliest, atMs] of lastPostsMs) {
      if (atMs > sinceMs) break;
      lastPostsMs.delete(earliest);
    }
    const atMs = lastPostsMs.get(user);
    return atMs !== undefined && atMs > sinceMs ? atMs : undefined;
  }

  /** @param atMs `undefined` takes the noted time back */
  #note(user: string, atMs: number | undefined): void {
    this.#lastPostsMs?.delete(user);
    if (atMs !== undefined) this.#lastPostsMs?.set(user, atMs);
  }

  #readBack(sinceMs: number): Map<string, number> {
    const found = new Map<string, number>();
    let messages = 0;
    try {
      for (const { sender, timestamp, origin } of newestSince(this.#room.log, sinceMs)) {
        // Newest first: the first one of a user is the last. A mirrored message was posted in another room.
        if (!origin && !found.has(sender)) found.set(sender, timestamp);
        if (++messages >= READ_BACK_MAX) break;
      }
    } catch (error) {
      this.#room.reportProblem("the last posts of users could not be read", error);
    }
    return new Map([...found].reverse());
  }
}
