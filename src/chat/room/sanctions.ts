// The decisions of moderators about a user, for parts that do not moderate: presence, editing, the relay and the room itself.
// Implemented by moderation/user-records.ts.
import type { Role } from "../../protocol/chat-events.ts";
import type { Caller } from "./operation.ts";

/** A user with the role that their token gives. */
export interface TokenHolder {
  readonly user: string;
  readonly tokenRole: Role;
}

/** A ban or a mute. */
export interface Sanction {
  readonly reason?: string;
  /** Milliseconds since 1970. Absent: it does not end. */
  readonly untilMs?: number;
}

export interface Sanctions {
  /** The role that counts in the room: the token's, or one that a moderator granted (MOD-9). */
  roleOf(holder: TokenHolder): Role;
  /** The ban that holds now, and binds a user of that rank. */
  banOf(holder: TokenHolder): Sanction | undefined;
  muteOf(holder: TokenHolder): Sanction | undefined;
  /**
   * Whether a caller may edit or delete the message of another user.
   * @param writtenAs the role in which its author wrote it, where that was more than a member's
   */
  mayChangeMessageOf(caller: Caller, author: string, writtenAs: Role | undefined): boolean;
}
