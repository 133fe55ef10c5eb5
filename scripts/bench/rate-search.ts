// The search for the highest rate that a server holds, over the rounds of a bench.
import type { Outcome } from "./outcome.ts";

/** Shares of the offered rate that are tried. */
const SHARES: readonly number[] = [1, 0.7, 0.5, 0.35, 0.25, 0.17, 0.12, 0.08, 0.05];

/** @param held the result of the round before; this one starts a step above it, so that one slow moment does not decide all rounds */
export function firstShare(held: number | undefined): number {
  return SHARES.findLast((share) => share > (held ?? 1)) ?? 1;
}

/**
 * The next rate to try: the one that got through, where a server was flooded, and at least one step down.
 * @returns `undefined` where the search is over
 */
export function nextShare({
  verdict,
  rateShare,
  reading,
}: Pick<Outcome, "verdict" | "rateShare" | "reading">): number | undefined {
  if (verdict !== "not held" && verdict !== "generator saturated") return undefined;
  const lower = SHARES.filter((share) => share < rateShare);
  if (reading?.kind !== "traffic") return lower[0];
  const through = (rateShare * reading.deliveries) / (reading.offeredPerSecond * reading.wallSeconds);
  return lower.findLast((share) => share >= through) ?? lower[0];
}
