// The role in which a message was written, where its author's token says more than "member". Editing judges the rank of
// authors who are away by it (user-records.ts). It is stored with the message (batch-format.ts) and never sent to clients, so a
// WeakMap holds it beside the object, as it holds the route of an origin.
import type { Message, Role } from "../../protocol/chat-events.ts";
import { isStaff, type StaffRole } from "../../protocol/roles.ts";

const roles = new WeakMap<Message, StaffRole>();

/** @returns the same message, with that role noted */
export function writtenAs(message: Message, role: Role | undefined): Message {
  if (role !== undefined && isStaff(role)) roles.set(message, role);
  return message;
}

/** @param message as the log has it */
export function staffRoleOf(message: Message): StaffRole | undefined {
  return roles.get(message);
}
