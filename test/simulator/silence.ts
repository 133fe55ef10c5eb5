// Checks mutes, bans, kicks, readers, read-only and slow mode: no message appears that they forbid. Called by witness.ts.
import type { Witness } from "./witness.ts";

interface Silence {
  readonly sinceMs: number;
  /** By the clock of the room. */
  readonly untilMs: number;
}

type ModerationEvent = [
  event: string,
  change: {
    readonly action: string;
    readonly user?: string;
    readonly until?: number;
    readonly on?: boolean;
    readonly seconds?: number;
    readonly role?: string;
  },
];

/** Slow mode of a room. */
interface Pace {
  readonly sinceMs: number;
  readonly seconds: number;
  /** When each user's last message was posted, by the clock of the room. */
  readonly postedAtMs: Map<string, number>;
}

/** A post that its decision has let through is stored this soon: the longest window of a plan, and some. */
const BY_VERDICT_MS_MAX = 600;

/** In place of a user: all members of the room, for read-only. */
const ALL = "*";

/** The action that ends each restriction, besides another of its kind. */
const ENDED_BY: Readonly<Record<string, string>> = {
  mute: "unmute",
  ban: "unban",
  grant: "revoke",
  "read-only": "read-only",
};

/** The restrictions of a user, and those of all. */
const restrictionsOf = (sender: string): string[] => [
  `mute ${sender}`,
  `ban ${sender}`,
  `grant ${sender}`,
  `read-only ${ALL}`,
];

/** The restriction that a moderator's action begins or ends; `undefined` for other actions. */
function restrictionOf(action: string, user = ALL): string | undefined {
  const kind = Object.keys(ENDED_BY).find((begin) => begin === action || ENDED_BY[begin] === action);
  return kind && `${kind} ${kind === "read-only" ? ALL : user}`;
}

export class Silences {
  readonly #witness: Witness;
  readonly #byWhom = new Map<string, Silence>();
  readonly #slow = new Map<string, Pace>();
  /** Rooms that were asked for slow mode since they began: where storage is slow, a deleted room announces its own later. */
  readonly #slowAsked = new Set<string>();
  /** The last kick of each user, by room: when it was asked for and when the room announced it. */
  readonly #kicks = new Map<string, { readonly atMs: number; readonly toldAtMs: number }>();
  readonly #kickAskedAtMs = new Map<string, number>();
  /** When a client first posted each text, in ms since the run began. */
  readonly #saidAtMs = new Map<string, number>();
  /** When a stock client last posted it. */
  readonly #postedAtMs = new Map<string, number>();

  constructor(witness: Witness) {
    this.#witness = witness;
  }

  said(content: string): void {
    this.#saidAtMs.set(content, this.#witness.now());
  }

  posted(content: string): void {
    this.#postedAtMs.set(content, this.#witness.now());
  }

  /** A moderator asks to end or replace a restriction. The moment at which it ends is unknown, so it is not checked any more. */
  ends(room: string, action: string, { user, on }: { readonly user?: string; readonly on?: boolean }): void {
    if (action === "slow-mode") {
      this.#slow.delete(room);
      this.#slowAsked.add(room);
    }
    if (action === "kick") this.#kickAskedAtMs.set(`${room} ${user}`, this.#witness.now());
    if (on !== true) this.#byWhom.delete(`${room} ${restrictionOf(action, user)}`);
  }

  /**
   * The clock of a room jumped. Times of messages never go back, so for a while they do not show when a message was posted; and a
   * restriction that was over remains over for those who posted meanwhile.
   * @param beforeMs by the clock of the room
   */
  clockJumped(room: string, beforeMs: number): void {
    this.#slow.delete(room);
    for (const [key, { untilMs }] of this.#byWhom)
      if (key.startsWith(`${room} `) && untilMs <= beforeMs) this.#byWhom.delete(key);
  }

  deleted(room: string): void {
    this.#slow.delete(room);
    this.#slowAsked.delete(room);
    for (const known of [this.#byWhom, this.#kicks, this.#kickAskedAtMs])
      for (const key of known.keys()) if (key.startsWith(`${room} `)) known.delete(key);
  }

  /** Since when a user has been a reader, in ms since the run began; absent where that is not certain. */
  readerSince(room: string, user: string): number | undefined {
    return this.#byWhom.get(`${room} grant ${user}`)?.sinceMs;
  }

  spoken(room: string, packet: string): void {
    if (!packet.startsWith('42["moderation"')) return;
    const [, { action, user, until: untilMs = Infinity, on, seconds = 0, role }] = JSON.parse(
      packet.slice(2),
    ) as ModerationEvent;
    if (action === "slow-mode" && seconds > 0 && this.#slowAsked.has(room) && !this.#slow.has(room))
      this.#slow.set(room, { sinceMs: this.#witness.now(), seconds, postedAtMs: new Map() });
    const kickedAtMs = this.#kickAskedAtMs.get(`${room} ${user}`);
    if (action === "kick" && kickedAtMs !== undefined)
      this.#kicks.set(`${room} ${user}`, { atMs: kickedAtMs, toldAtMs: this.#witness.now() });
    const restriction = restrictionOf(action, user);
    // When storage is slow, the room announces a beginning after its end was asked for.
    if (action === "slow-mode" && seconds === 0) this.#slow.delete(room);
    if (restriction === undefined) return;
    const key = `${room} ${restriction}`;
    const begins = action in ENDED_BY && on !== false && (action !== "grant" || role === "reader");
    if (!begins) this.#byWhom.delete(key);
    else if (!this.#byWhom.has(key)) this.#byWhom.set(key, { sinceMs: this.#witness.now(), untilMs });
  }

  /** @param nowMs by the clock of the room */
  stored(
    room: string,
    { sender, content }: { readonly sender: string; readonly content: string },
    nowMs: number,
  ): void {
    const saidAtMs = this.#saidAtMs.get(content);
    if (saidAtMs === undefined) return;
    // With rules of its own, the room takes a post only after their decision.
    const asked = this.#witness.ruling.askedAbout(room, content);
    const takenAtMs = asked?.decidedAtMs ?? saidAtMs;
    this.#keepPace(room, sender, { takenAtMs, nowMs });
    const kick = this.#kicks.get(`${room} ${sender}`);
    // Otherwise it was sent again meanwhile, and needed no other decision.
    const isByVerdict = nowMs - (asked?.decidedRoomMs ?? -Infinity) <= BY_VERDICT_MS_MAX;
    const isAgain = kick !== undefined && (this.#postedAtMs.get(content) ?? 0) > kick.toldAtMs;
    if (asked && kick && isByVerdict && !isAgain)
      this.#witness.demand(
        asked.askedAtMs >= kick.atMs || takenAtMs <= kick.toldAtMs,
        "let in",
        () =>
          `"${content}" of ${sender} waited from ${asked.askedAtMs} to ${takenAtMs}, and ${room} kicked them at ${kick.atMs}`,
      );
    for (const whom of restrictionsOf(sender)) {
      const silence = this.#byWhom.get(`${room} ${whom}`);
      if (!silence || nowMs >= silence.untilMs) continue;
      this.#witness.demand(
        takenAtMs <= silence.sinceMs,
        "let in",
        () =>
          `"${content}" was said at ${saidAtMs}, taken at ${takenAtMs} and is in ${room}, where "${whom}" holds since ${silence.sinceMs}`,
      );
    }
  }

  #keepPace(room: string, sender: string, { takenAtMs, nowMs }: { takenAtMs: number; nowMs: number }): void {
    const pace = this.#slow.get(room);
    if (!pace || takenAtMs <= pace.sinceMs) return;
    const passedMs = nowMs - (pace.postedAtMs.get(sender) ?? -Infinity);
    pace.postedAtMs.set(sender, nowMs);
    this.#witness.demand(
      passedMs >= pace.seconds * 1000,
      "let in",
      () => `${sender} posted twice in ${room} within ${passedMs} ms, in slow mode of ${pace.seconds} s`,
    );
  }
}
