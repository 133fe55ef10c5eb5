// Puts into words why the next message has to wait. Pure; the composer and the rows of outgoing messages call it.
import type { Hold } from "parley-rooms/client";

import { duration } from "./times.ts";

/** The reason to wait, with the time left; empty where there is none. */
export function holdText(hold: Hold | undefined, nowMs: number): string {
  if (!hold) return "";
  const left = duration(hold.untilMs - nowMs);
  const time = Number.isFinite(hold.untilMs) ? ` for ${left}` : "";
  if (hold.code === "MUTED") return `A moderator muted you${time}`;
  if (hold.code === "SLOW_MODE") return `Slow mode: next message in ${left}`;
  return `A bit fast: your messages wait${time}`;
}

/** When the next message will be sent; empty where nothing delays it. */
export function waitText(hold: Hold | undefined, nowMs: number): string {
  if (!hold || !Number.isFinite(hold.untilMs)) return "";
  return `${hold.code === "SLOW_MODE" ? "Slow mode: sent" : "Sent"} in ${duration(hold.untilMs - nowMs)}`;
}
