// The lists of a large room, for the room and for each of its shards: connections that get counts alone, and users who type. Called by
// src/chat/room/room.ts, chat/people and shards.
import type { AttendPayload, Counts } from "../protocol/chat-events.ts";
import type { Deadline } from "../clock/deadlines.ts";
import { ThrottledRun } from "../clock/rates.ts";
import type { Audience, Hub } from "../socketio/server/hub.ts";
import type { Socket } from "../socketio/server/socket.ts";

/** The channel of connections that asked for counts alone (`attend`). No user's channel and no socket has a name with a space at its end. */
const CHANNEL = "counts ";

/** From one event `counts` to the next, at least. */
export const COUNTS_WINDOW_MS = 2000;

/** The events that they do without. */
const OF_MESSAGES: ReadonlySet<string> = new Set([
  "chat-message",
  "message-edited",
  "message-deleted",
  "reaction",
  "not-shown",
  "read",
  "typing",
  "typing-count",
]);

export interface SubscriptionLevelsPorts {
  readonly hub: Pick<Hub, "channels" | "emit" | "join" | "leave">;
  readonly counts: () => Counts;
  readonly deadline: (name: string, run: (nowMs: number) => void, options: { keepsAwake: true }) => Deadline;
}

/**
 * Connections whose users do not look at the messages, and which asked for counts only (ATT-1 to ATT-3): they get no messages and nothing
 * that happens to them, and the number of the newest message now and then.
 */
export class SubscriptionLevels {
  readonly #ports: SubscriptionLevelsPorts;
  readonly #sending: ThrottledRun;
  #sentSeq = 0;

  constructor(ports: SubscriptionLevelsPorts) {
    this.#ports = ports;
    const deadline = (due: (nowMs: number) => void): Deadline => ports.deadline("counts", due, { keepsAwake: true });
    this.#sending = new ThrottledRun({ windowMs: () => COUNTS_WINDOW_MS }, () => this.#send(), deadline);
  }

  /** ATT-2: takes the wish of a connection. @returns the counts as they are now */
  attend(client: Socket, { to }: AttendPayload): Counts {
    const { hub, counts } = this.#ports;
    if (to === "counts") hub.join(client, CHANNEL);
    else hub.leave(client, CHANNEL);
    return counts();
  }

  /** @returns the recipients of an event: those of `audience`, but for those who do without it */
  audienceOf(event: string, audience: Audience): Audience {
    const { channels, except = [] } = audience;
    if (channels || !OF_MESSAGES.has(event) || !this.isAsked) return audience;
    return { ...audience, except: [...except, CHANNEL] };
  }

  /** There may be newer messages. */
  moved(nowMs: number): void {
    if (this.isAsked) this.#sending.request(nowMs);
  }

  /** Whether a connection asked for counts alone: it joined their channel. */
  get isAsked(): boolean {
    return this.#ports.hub.channels.has(CHANNEL);
  }

  #send(): void {
    const { hub, counts } = this.#ports;
    const now = counts();
    if (now.lastSeq === this.#sentSeq) return;
    this.#sentSeq = now.lastSeq;
    hub.emit({ channels: [CHANNEL] }, "counts", [now]);
  }
}

/** A notice that is not repeated for so long ends (TYP-2). */
export const TYPING_MS = 5000;

export interface CurrentTyping {
  readonly name: string;
  /** The connection that sent the last notice; its end ends the typing. */
  readonly socketId: string;
  /** Whether the others heard the name: in a large room they do not (TYP-1). */
  readonly isNamed: boolean;
}

export interface TypistsPorts {
  readonly now: () => number;
  readonly deadline: (name: string, run: (nowMs: number) => void, options: { keepsAwake: true }) => Deadline;
  readonly ended: (user: string, typing: CurrentTyping) => void;
}

/** The users who type at present; each notice ends by itself. In memory only: a notice is over in seconds. */
export class Typists {
  readonly #ports: TypistsPorts;
  readonly #byUser = new Map<string, CurrentTyping & { readonly untilMs: number }>();
  readonly #due: Deadline;

  constructor(ports: TypistsPorts) {
    this.#ports = ports;
    this.#due = ports.deadline("typing", (nowMs) => this.#expire(nowMs), { keepsAwake: true });
  }

  /** Users whose names the others did not hear. */
  get unnamed(): number {
    return this.#byUser.size - this.named.length;
  }

  /** The users whose names the others heard, the first to type first. */
  get named(): Array<{ readonly user: string; readonly name: string }> {
    return [...this.#byUser].flatMap(([user, { name, isNamed }]) => (isNamed ? [{ user, name }] : []));
  }

  /** A user types, or still does. @returns whether that is new */
  begin(user: string, typing: CurrentTyping): boolean {
    const known = this.#byUser.get(user);
    const { name, isNamed } = known ?? typing;
    const untilMs = this.#ports.now() + TYPING_MS;
    this.#byUser.set(user, { ...typing, name, isNamed, untilMs });
    this.#due.pull(untilMs);
    return !known;
  }

  /** @param socketId only if that connection sent the last notice: another tab of the user may be the one that types; absent: in any case */
  end(user: string, socketId?: string): void {
    const typing = this.#byUser.get(user);
    if (!typing || (socketId ?? typing.socketId) !== typing.socketId) return;
    this.#byUser.delete(user);
    if (this.#byUser.size === 0) this.#due.clear();
    this.#ports.ended(user, typing);
  }

  #expire(nowMs: number): void {
    for (const [user, { untilMs }] of this.#byUser) {
      if (untilMs <= nowMs) this.end(user);
      else this.#due.pull(untilMs);
    }
  }
}
