// Checks the options of createParley and the `static bindings` of rooms that stand in the code as literals, by the Worker's own rules, and
// whether the bindings that they name are there. Called by examine.ts.
import { checkBindingNames } from "../../../src/rpc/bindings.ts";
import { mountOf } from "../../../src/worker/mount.ts";
import { error, type Finding } from "../finding.ts";
import type { Config, Facts } from "../facts.ts";
import { COMPUTED, readLiterals, type Fields } from "../literals.ts";

export function checkOptions({ config, entry }: Facts): Finding[] {
  const { options, bindings } = readLiterals(entry);
  const named = [...options.map((given) => given["bindings"]), ...bindings].filter(isFields);
  return [
    ...options.flatMap((given) => problemOf(() => mountOf(known(given)))),
    ...bindings.flatMap((given) => problemOf(() => checkBindingNames(known(given)))),
    ...missingBindings(named, config),
  ];
}

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null;

/** Without what the code computes. */
const known = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (value === COMPUTED) return [name, undefined];
      return [name, isFields(value) && !Array.isArray(value) ? known(value) : value];
    }),
  );

function problemOf(check: () => unknown): Finding[] {
  try {
    check();
    return [];
  } catch (problem) {
    return [error("option.bad", `${(problem as Error).message}. The Worker does not start with it.`)];
  }
}

function missingBindings(named: readonly Fields[], config: Config): Finding[] {
  const there = new Set([
    ...config.durable_objects.bindings.map(({ name }) => name),
    ...[...config.r2_buckets, ...(config.queues.producers ?? []), ...(config.analytics_engine_datasets ?? [])].map(
      ({ binding }) => binding,
    ),
  ]);
  const names = named.flatMap((fields) => Object.entries(fields));
  const missing = names.filter(([, name]) => typeof name === "string" && name !== "" && !there.has(name));
  return [...new Map(missing.map(([use, name]) => [name, use]))].map(([name, use]) =>
    error(
      "binding.unknown",
      `The code names ${String(name)} as its binding for ${use}, and the configuration has none of that name.`,
      "Add the binding, or correct the name.",
    ),
  );
}
