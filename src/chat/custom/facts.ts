// The numbers that custom features say about the room in its reports to the lobby (OWN-8). Called by custom-features.ts.
import type { RoomNumbers } from "../../protocol/room-list.ts";
import type { AnyFeature } from "../../extension/extension.ts";
import { FACT_NAME } from "./names.ts";
import { atOnce } from "./returned.ts";

/** Of all features of a room together. */
export const FACTS_MAX = 8;

/** @returns `undefined` if there is nothing to report */
export function factsOf(
  features: readonly AnyFeature[],
  failed: (feature: AnyFeature, error: unknown) => void,
): RoomNumbers | undefined {
  const facts = new Map<string, number>();
  for (const feature of features) {
    try {
      for (const [name, value] of Object.entries(atOnce(feature.facts?.() ?? {}))) {
        if (!FACT_NAME.test(name)) throw new Error(`"${name}" is no name of a fact`);
        if (!(Number.isFinite(value) && value >= 0)) throw new Error(`"${name}" is no number from 0 on`);
        if (value === 0 || facts.has(name)) continue;
        if (facts.size === FACTS_MAX) throw new Error(`a room has ${FACTS_MAX} facts at most`);
        facts.set(name, value);
      }
    } catch (error) {
      failed(feature, error);
    }
  }
  return facts.size > 0 ? Object.fromEntries(facts) : undefined;
}
