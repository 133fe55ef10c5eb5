// Puts into words why the next message has to wait. Pure; the composer and the rows of outgoing messages call it.
import type { Hold } from "parley-rooms/client";

import { duration } from "./times.ts";

/** The reason to wait, which is read aloud, and the time left, which changes each second. Both are empty where there is none. */
export function holdText(hold: Hold | undefined, nowMs: number): readonly [reason: string, left: string] {
  if (!hold) return ["", ""];
  const left = Number.isFinite(hold.untilMs) && duration(hold.untilMs - nowMs);
  if (hold.code === "MUTED") return ["A moderator muted you", left ? `: ${left} left` : ""];
  if (hold.code === "SLOW_MODE") return ["Slow mode", `: next message in ${left}`];
  return ["A bit fast: your messages wait", left ? ` for ${left}` : ""];
}

/** When the next message will be sent; empty where nothing delays it. */
export function waitText(hold: Hold | undefined, nowMs: number): string {
  if (!hold || !Number.isFinite(hold.untilMs)) return "";
  return `${hold.code === "SLOW_MODE" ? "Slow mode: will be sent" : "Will be sent"} in ${duration(hold.untilMs - nowMs)}`;
}
