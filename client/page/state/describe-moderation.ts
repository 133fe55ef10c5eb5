// Describes a moderation action in one sentence. Pure; the view calls it for each event.
import type { ModerationChange } from "parley-rooms/client";

import { t } from "./language.ts";
import { named } from "./names.ts";
import { roleText } from "./people.ts";
import { duration } from "./times.ts";

/**
 * @param nameOf the name of a user
 * @param self the reader
 */
export function describeModeration(change: ModerationChange, nameOf: (user: string) => string, self: string): string {
  const { user, reason } = change;
  const values = {
    by: change.by === self ? t("You") : capital(nameOf(change.by)),
    user: user === undefined ? "" : user === self ? t("you") : nameOf(user),
  };
  const done = actionOf(change, values);
  return reason === undefined ? done : t("{done}: “{reason}”", { done, reason: named(reason) });
}

type Named = Readonly<Record<"by" | "user", string>>;

function actionOf({ action, seconds, on, name, topic, role }: ModerationChange, people: Named): string {
  const lasting = { ...people, time: duration((seconds ?? 0) * 1000) };
  switch (action) {
    case "kick":
      return t("{by} kicked {user}", people);
    case "ban":
      return seconds === undefined ? t("{by} banned {user}", people) : t("{by} banned {user} for {time}", lasting);
    case "unban":
      return t("{by} unbanned {user}", people);
    case "mute":
      return seconds === undefined ? t("{by} muted {user}", people) : t("{by} muted {user} for {time}", lasting);
    case "unmute":
      return t("{by} unmuted {user}", people);
    case "slow-mode":
      return seconds
        ? t("{by} turned on slow mode: one message every {time}", lasting)
        : t("{by} turned off slow mode", people);
    case "read-only":
      return on ? t("{by} made the room read-only", people) : t("{by} opened the room for everybody to write", people);
    case "describe":
      return [namedBy(name, people), describedBy(topic, people)].filter(Boolean).join(" · ");
    case "grant":
      return t("{by} made {user} a {role}", { ...people, role: roleText(role ?? "") });
    case "revoke":
      return t("{by} removed the role of {user}", people);
  }
}

function namedBy(name: string | undefined, { by }: Named): string {
  if (name === "") return t("{by} took the name of the room away", { by });
  return name === undefined ? "" : t("{by} set the name of the room to “{name}”", { by, name: named(name) });
}

function describedBy(topic: string | undefined, { by }: Named): string {
  if (topic === "") return t("{by} took the topic of the room away", { by });
  return topic === undefined ? "" : t("{by} set the topic of the room to “{topic}”", { by, topic: named(topic) });
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
