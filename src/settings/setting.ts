// One setting as it is declared: what declared.ts lists, settings.ts reads and docs/settings.md shows.
import type { Kind } from "./kinds.ts";

/** @template Value what settings hold; `undefined` in it says that the setting may be absent. */
export interface Setting<Value = unknown> {
  /** The variable. */
  readonly name: string;
  readonly kind: Kind<Exclude<Value, undefined>>;
  readonly meaning: string;
  readonly unit?: string;
  readonly default: Value;
  /** Where development has another default. */
  readonly inDevelopment?: Value;
  /** The default in words, where the value does not show it. */
  readonly defaultText?: string;
}

type Facts<Value> = Pick<Setting<Value>, "meaning" | "unit" | "inDevelopment" | "defaultText">;

export const setting = <Value>(
  name: string,
  kind: Kind<Value>,
  facts: Facts<NoInfer<Value>> & { default: NoInfer<Value> },
): Setting<Value> => ({ name, kind, ...facts }) as Setting<Value>;

export const optional = <Value>(
  name: string,
  kind: Kind<Value>,
  facts: Facts<NoInfer<Value>>,
): Setting<Value | undefined> => ({ name, kind, default: undefined, ...facts }) as Setting<Value | undefined>;
