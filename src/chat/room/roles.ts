// Refuses callers by their role. Called by the features.
import type { ErrorAnswer, Role } from "../../protocol/chat-events.ts";
import { isStaff } from "../../protocol/roles.ts";
import { refuse } from "../../protocol/refuse.ts";

export function refuseUnlessModerator({ role }: { readonly role: Role }): ErrorAnswer | undefined {
  return isStaff(role) ? undefined : refuse("FORBIDDEN", "Only moderators may do this.");
}

/** @param verb the action that the error names */
export function refuseReader({ role }: { readonly role: Role }, verb = "do this"): ErrorAnswer | undefined {
  return role === "reader" ? refuse("FORBIDDEN", `A reader may not ${verb}.`) : undefined;
}
