// Says what each role may do in a room, and ranks roles: a rank moderates those below it (MOD-2). Called by every
// feature that refuses a caller by role.
import type { ErrorAnswer, Role } from "../../protocol/chat-events.ts";
import { isStaff } from "../log/authorship.ts";
import { refuse } from "./answers.ts";

/** From the role that may do least to the one that may do most. */
export const ROLES: readonly Role[] = ["reader", "member", "moderator", "service"];

/** Moderators by a grant of the room rank below moderators by their token; highest is the backend. */
export const RANKS = { everybody: 0, granted: 1, moderator: 2, service: 3 } as const;

export type Rank = (typeof RANKS)[keyof typeof RANKS];

export function rankOfToken(role: Role): Rank {
  if (role === "service") return RANKS.service;
  return role === "moderator" ? RANKS.moderator : RANKS.everybody;
}

/** Moderators and the backend: `role` is the one that counts in the room, by token or by grant. */
export const mayModerate = ({ role }: { readonly role: Role }): boolean => isStaff(role);

export function refuseUnlessModerator(caller: { readonly role: Role }): ErrorAnswer | undefined {
  return mayModerate(caller) ? undefined : refuse("FORBIDDEN", "Only moderators may do this.");
}

/** @param verb what readers may not do */
export function refuseReader({ role }: { readonly role: Role }, verb = "do this"): ErrorAnswer | undefined {
  return role === "reader" ? refuse("FORBIDDEN", `A reader may not ${verb}.`) : undefined;
}
