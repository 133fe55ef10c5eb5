// Ranks roles: a rank moderates those below it (MOD-2). Called by the rooms, the Worker and the client. Imports no code.
import type { Role } from "./schemas/presence.ts";

/** From the role that may do most to the one that may do least. */
export const ROLES = ["service", "moderator", "member", "reader"] as const satisfies readonly Role[];

export type StaffRole = Extract<Role, "moderator" | "service">;

/** Moderators and the backend. In a room `role` is the one that counts there, by token or by grant. */
export const isStaff = (role: Role): role is StaffRole => role === "moderator" || role === "service";

/** Moderators by a grant of the room rank below moderators by their token; highest is the backend. */
export const RANKS = { everybody: 0, granted: 1, moderator: 2, service: 3 } as const;

export type Rank = (typeof RANKS)[keyof typeof RANKS];

export function rankOfToken(role: Role): Rank {
  if (role === "service") return RANKS.service;
  return role === "moderator" ? RANKS.moderator : RANKS.everybody;
}
