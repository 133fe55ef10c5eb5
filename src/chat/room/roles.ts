// Refuses callers by their role. Called by the features.
import type { ErrorAnswer, Role } from "../../protocol/chat-events.ts";
import { isStaff } from "../../protocol/roles.ts";
import { refuse } from "../../protocol/refuse.ts";

/** @param verb the action that the error names */
export function refuseUnlessModerator({ role }: { readonly role: Role }, verb?: string): ErrorAnswer | undefined {
  if (isStaff(role)) return undefined;
  return refuse("FORBIDDEN", verb === undefined ? "Only moderators may do this." : `Only a moderator may ${verb}.`);
}

/** @param verb the action that the error names */
export function refuseReader({ role }: { readonly role: Role }, verb = "do this"): ErrorAnswer | undefined {
  return role === "reader" ? refuse("FORBIDDEN", `A reader may not ${verb}.`) : undefined;
}
