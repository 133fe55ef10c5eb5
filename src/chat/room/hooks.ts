// The features of a room by hook. Most features have few hooks, and every request calls several, so each list is made once. Made by
// features.ts; room.ts, chat.ts, requests.ts and room-calls.ts call the hooks.
import type { Feature } from "./feature.ts";

type Hook = Exclude<keyof Feature, "operations">;
type Having<Name extends Hook> = Feature & Required<Pick<Feature, Name>>;

export class Hooks {
  /** All features, in the order in which their hooks are called. */
  readonly features: readonly Feature[];
  readonly #having = new Map<Hook, readonly Feature[]>();

  constructor(features: readonly Feature[]) {
    this.features = features;
  }

  /** @returns the features with that hook, in their order */
  with<Name extends Hook>(name: Name): ReadonlyArray<Having<Name>> {
    let having = this.#having.get(name);
    if (!having) {
      having = this.features.filter((feature) => feature[name] !== undefined);
      this.#having.set(name, having);
    }
    return having as ReadonlyArray<Having<Name>>;
  }

  /** Calls that hook of each feature that has it. */
  tell<Name extends Hook>(name: Name, ...args: Parameters<Required<Feature>[Name]>): void {
    for (const feature of this.with(name)) (feature[name] as (...given: typeof args) => unknown)(...args);
  }
}
