// Ranks roles: a rank moderates those below it (MOD-2), and refuses callers by their role. Called by the rooms, the Worker and the client.
import type { ErrorAnswer } from "./chat-events.ts";
import type { Role } from "./schemas/presence.ts";
import { refuse } from "./refuse.ts";

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

/** @param verb the action that the error names */
export function refuseUnlessModerator({ role }: { readonly role: Role }, verb?: string): ErrorAnswer | undefined {
  if (isStaff(role)) return undefined;
  return refuse("FORBIDDEN", verb === undefined ? "Only moderators may do this." : `Only a moderator may ${verb}.`);
}

/** @param verb the action that the error names */
export function refuseReader({ role }: { readonly role: Role }, verb = "do this"): ErrorAnswer | undefined {
  return role === "reader" ? refuse("FORBIDDEN", `A reader may not ${verb}.`) : undefined;
}
