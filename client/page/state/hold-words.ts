// Puts into words why the next message has to wait. Pure; the composer and the rows of outgoing messages call it.
import type { Hold } from "parley-rooms/client";

import { t } from "./language.ts";
import { duration } from "./times.ts";

/** The reason to wait, which is read aloud, and the time left, which changes each second. Both are empty where there is none. */
export function holdText(hold: Hold | undefined, nowMs: number): readonly [reason: string, left: string] {
  if (!hold) return ["", ""];
  const left = Number.isFinite(hold.untilMs) && duration(hold.untilMs - nowMs);
  if (hold.code === "MUTED") return [t("A moderator muted you"), left ? t(": {time} left", { time: left }) : ""];
  if (hold.code === "SLOW_MODE") return [t("Slow mode"), left ? t(": next message in {time}", { time: left }) : ""];
  return [t("A bit fast: your messages wait"), left ? t(" for {time}", { time: left }) : ""];
}

/** When the next message will be sent; empty where nothing delays it. */
export function waitText(hold: Hold | undefined, nowMs: number): string {
  if (!hold || !Number.isFinite(hold.untilMs)) return "";
  const time = duration(hold.untilMs - nowMs);
  return hold.code === "SLOW_MODE"
    ? t("Slow mode: will be sent in {time}", { time })
    : t("Will be sent in {time}", { time });
}
