// Keeps verdicts on posts that were not stored, so that a retry gets the verdict of its first try (RULE-4). In memory only. Called by
// screening.ts.
import { hasPassed } from "../../clock/rates.ts";
import { RecentMap } from "../../clock/recent-map.ts";
import { DEDUPE_WINDOW_MS } from "../log/posted-ids.ts";
import type { Verdict } from "./verdict.ts";

/** Verdicts that are kept at most; of more, the oldest go. */
export const VERDICTS_KEPT_MAX = 100;

interface KeptVerdict {
  readonly verdict: Verdict;
  readonly atMs: number;
}

export class KeptVerdicts {
  /** By sender and client message id, the oldest first. */
  readonly #verdicts = new RecentMap<string, KeptVerdict>(VERDICTS_KEPT_MAX);

  find(key: string, nowMs: number): Verdict | undefined {
    const kept = this.#verdicts.get(key);
    return kept && !hasPassed(kept.atMs, DEDUPE_WINDOW_MS, nowMs) ? kept.verdict : undefined;
  }

  keep(key: string, verdict: Verdict, nowMs: number): void {
    this.#verdicts.set(key, { verdict, atMs: nowMs });
  }

  forget(key: string): void {
    this.#verdicts.delete(key);
  }

  clear(): void {
    this.#verdicts.clear();
  }
}
