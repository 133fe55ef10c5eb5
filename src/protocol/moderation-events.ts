// The vocabulary of moderation: what moderators ask for, and what everyone hears of it. Rules MOD-1 to MOD-11
// are in src/chat/SPEC.md.
import type { Answer, Role } from "./chat-events.ts";

/** Characters of a reason. */
export const REASON_LENGTH_MAX = 300;

export type ModerationAction =
  | "kick"
  | "ban"
  | "unban"
  | "mute"
  | "unmute"
  | "slow-mode"
  | "read-only"
  | "grant"
  | "revoke";

/** A role that a room can give somebody, whatever their token says. */
export type GrantedRole = Exclude<Role, "service">;

/** What somebody did, as everyone hears it. Which fields there are depends on the action. */
export interface ModerationChange {
  readonly action: ModerationAction;
  /** The user whom it concerns. */
  readonly user?: string;
  /** The user who did it. */
  readonly by: string;
  /** When a ban or a mute ends, in milliseconds since 1970; absent: never. */
  readonly until?: number;
  readonly reason?: string;
  /** How long a ban or a mute lasts; of slow mode: from one post of a user to the next, 0 for none. */
  readonly seconds?: number;
  /** Of `read-only`. */
  readonly on?: boolean;
  /** Of `grant`. */
  readonly role?: GrantedRole;
}

/** What stands in the audit list: what moderators did, and that they changed what somebody else had written. */
export type AuditAction = ModerationAction | "edit-message" | "delete-message";

/** A line of the audit list. */
export interface AuditEntry extends Omit<ModerationChange, "action"> {
  readonly action: AuditAction;
  /** Of `edit-message` and `delete-message`: the `id` of the message, which `user` had written, … */
  readonly id?: string;
  /** … and its place. */
  readonly seq?: number;
  /** Its place in the list: 1, 2, 3, … */
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** What somebody decided about a user. */
export interface Decision {
  readonly by: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly until?: number;
  readonly reason?: string;
}

/** A user about whom something was decided that still holds. */
export interface ModeratedUser {
  readonly user: string;
  readonly banned?: Decision;
  readonly muted?: Decision;
  readonly granted?: Decision & { readonly role: GrantedRole };
}

/** How a room stands that not everybody may speak in at will. */
export interface RoomModes {
  /** Seconds from one post of a user to the next; 0 for none. Moderators need not wait. */
  readonly slowModeSeconds: number;
  /** Whether only moderators may speak. */
  readonly readOnly: boolean;
}

/** The part of `welcome` that moderation has to say. */
export interface ModerationWelcome extends RoomModes {
  /** Until when this user may not speak, in milliseconds since 1970. */
  readonly mutedUntil?: number;
}

type Ack = (answer: Answer<object>) => void;
export type AuditAnswer = Answer<{ readonly entries: readonly AuditEntry[]; readonly hasMore: boolean }>;
export type ModerationStateAnswer = Answer<
  RoomModes & { readonly users: readonly ModeratedUser[]; readonly hasMore: boolean }
>;

export interface ModerationClientEvents {
  kick: (payload: { readonly user: string; readonly reason?: string }, ack?: Ack) => void;
  /** Without `seconds` it is for good. */
  ban: (payload: { readonly user: string; readonly seconds?: number; readonly reason?: string }, ack?: Ack) => void;
  unban: (payload: { readonly user: string }, ack?: Ack) => void;
  mute: (payload: { readonly user: string; readonly seconds: number; readonly reason?: string }, ack?: Ack) => void;
  unmute: (payload: { readonly user: string }, ack?: Ack) => void;
  "slow-mode": (payload: { readonly seconds: number }, ack?: Ack) => void;
  "read-only": (payload: { readonly on: boolean }, ack?: Ack) => void;
  grant: (payload: { readonly user: string; readonly role: GrantedRole }, ack?: Ack) => void;
  revoke: (payload: { readonly user: string }, ack?: Ack) => void;
  /** Ascending by `number`; `before` is exclusive, without it the newest are meant. */
  audit: (payload: { readonly before?: number; readonly limit?: number }, ack?: (answer: AuditAnswer) => void) => void;
  /** @param payload `after`: the last `user` of the page before */
  "moderation-state": (
    payload: { readonly after?: string; readonly limit?: number },
    ack?: (answer: ModerationStateAnswer) => void,
  ) => void;
}

export interface ModerationServerEvents {
  moderation: (change: ModerationChange) => void;
}
