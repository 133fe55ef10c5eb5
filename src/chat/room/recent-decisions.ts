// Keeps decisions on posts that were not stored, so that a retry gets the decision of its first try (RULE-4). In memory only. Called by
// moderation-hook.ts.
import { hasPassed } from "../../clock/rates.ts";
import { RecentMap } from "../../clock/recent-map.ts";
import { DEDUPE_WINDOW_MS } from "../log/posted-ids.ts";
import type { PostDecision } from "./post-decision.ts";

/** Decisions that are kept at most; of more, the oldest go. */
export const RECENT_DECISIONS_MAX = 100;

interface RecentDecision {
  readonly decision: PostDecision;
  readonly atMs: number;
}

export class RecentDecisions {
  /** By sender and client message id, the oldest first. */
  readonly #decisions = new RecentMap<string, RecentDecision>(RECENT_DECISIONS_MAX);

  find(key: string, nowMs: number): PostDecision | undefined {
    const kept = this.#decisions.get(key);
    return kept && !hasPassed(kept.atMs, DEDUPE_WINDOW_MS, nowMs) ? kept.decision : undefined;
  }

  keep(key: string, decision: PostDecision, nowMs: number): void {
    this.#decisions.set(key, { decision, atMs: nowMs });
  }

  forget(key: string): void {
    this.#decisions.delete(key);
  }

  clear(): void {
    this.#decisions.clear();
  }
}
