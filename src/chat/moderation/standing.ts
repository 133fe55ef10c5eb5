// How a user stands in a room: what was decided about them, and by somebody of which rank. One rule holds
// throughout: a decision binds those who rank below its author, and only their equals or betters undo it (MOD-2).
import type { GrantedRole } from "../../protocol/moderation-events.ts";
import type { Role } from "../../protocol/chat-events.ts";

/** Everybody else, a moderator by the room's grant, one by their token, and the backend. */
export const RANKS = { everybody: 0, granted: 1, moderator: 2, service: 3 } as const;

export type Rank = (typeof RANKS)[keyof typeof RANKS];

/** What somebody decided about a user, as it is kept. */
export interface Ruling {
  readonly by: string;
  /** Of its author, when it was made. */
  readonly rank: Rank;
  readonly atMs: number;
  /** Absent: it does not end. */
  readonly untilMs?: number;
  readonly reason?: string;
}

export interface Standing {
  readonly ban?: Ruling;
  readonly mute?: Ruling;
  readonly grant?: Ruling & { readonly role: GrantedRole };
  /** When the user was last kicked or banned: no connection from before can be recovered. */
  readonly putOutAtMs?: number;
}

/** Longer than any recovery window: nothing from before can come back then. */
const PUT_OUT_KEPT_MS = 24 * 3_600_000;

function rankOfToken(role: Role): Rank {
  if (role === "service") return RANKS.service;
  return role === "moderator" ? RANKS.moderator : RANKS.everybody;
}

const isOn = (ruling: Ruling | undefined, nowMs: number): ruling is Ruling =>
  ruling !== undefined && (ruling.untilMs === undefined || ruling.untilMs > nowMs);

/** @param role what the user's token says */
function bindingGrant({ grant }: Standing, role: Role): Standing["grant"] {
  return grant && grant.rank > rankOfToken(role) ? grant : undefined;
}

/** The role that counts in the room (MOD-9). */
export function effectiveRole(standing: Standing, role: Role): Role {
  return bindingGrant(standing, role)?.role ?? role;
}

export function rankOf(standing: Standing, role: Role): Rank {
  const own = rankOfToken(role);
  const grant = bindingGrant(standing, role);
  if (!grant) return own;
  if (grant.role !== "moderator") return RANKS.everybody;
  return own === RANKS.everybody ? RANKS.granted : own;
}

/** The ban or the mute that holds for the bearer of a token of that role. */
export function bindingRuling(
  standing: Standing,
  kind: "ban" | "mute",
  { role, nowMs }: { readonly role: Role; readonly nowMs: number },
): Ruling | undefined {
  const ruling = standing[kind];
  return isOn(ruling, nowMs) && ruling.rank > rankOf(standing, role) ? ruling : undefined;
}

/** What of it still means something; `undefined` where nothing does. */
export function currentStanding({ ban, mute, grant, putOutAtMs }: Standing, nowMs: number): Standing | undefined {
  const isPutOutFresh = putOutAtMs !== undefined && nowMs - putOutAtMs < PUT_OUT_KEPT_MS;
  const current = {
    ...(isOn(ban, nowMs) && { ban }),
    ...(isOn(mute, nowMs) && { mute }),
    ...(grant && { grant }),
    ...(isPutOutFresh && { putOutAtMs }),
  };
  return Object.keys(current).length > 0 ? current : undefined;
}
