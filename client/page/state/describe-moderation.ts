// Describes a moderation action in one sentence. Pure; the view calls it for each event.
import type { ModerationChange } from "parley-rooms/client";

import { named } from "./names.ts";
import { duration } from "./times.ts";

/** @param nameOf the name of a user; "you" for the reader */
export function describeModeration(change: ModerationChange, nameOf: (user: string) => string): string {
  const by = capital(nameOf(change.by));
  const user = change.user === undefined ? "" : nameOf(change.user);
  const because = change.reason === undefined ? "" : `: “${named(change.reason)}”`;
  return `${by} ${actionOf(change, user)}${because}`;
}

function actionOf({ action, seconds, on, name, topic, role }: ModerationChange, user: string): string {
  const lasting = seconds === undefined ? "" : ` for ${duration(seconds * 1000)}`;
  switch (action) {
    case "kick":
      return `kicked ${user}`;
    case "ban":
      return `banned ${user}${lasting}`;
    case "unban":
      return `unbanned ${user}`;
    case "mute":
      return `muted ${user}${lasting}`;
    case "unmute":
      return `unmuted ${user}`;
    case "slow-mode":
      return seconds ? `turned on slow mode: one message every ${duration(seconds * 1000)}` : "turned off slow mode";
    case "read-only":
      return on ? "made the room read-only" : "opened the room for everybody to write";
    case "describe":
      return [describedBy("name", name), describedBy("topic", topic)].filter(Boolean).join(", and ");
    case "grant":
      return `made ${user} a ${role}`;
    case "revoke":
      return `removed the role of ${user}`;
  }
}

function describedBy(what: string, text: string | undefined): string {
  if (text === "") return `took the ${what} of the room away`;
  return text === undefined ? "" : `set the ${what} of the room to “${named(text)}”`;
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
