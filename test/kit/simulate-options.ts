// Checks the options of simulations, which plain JavaScript and configurations may get wrong. Called by simulate-in-node.ts.
import type { OpenOptions, SimulateOptions } from "./simulate.ts";

interface Rule {
  readonly needs: string;
  readonly isKept: (value: unknown) => boolean;
}

const wholeFrom = (min: number): Rule => ({
  needs: `a whole number from ${min}`,
  isKept: (value) => Number.isSafeInteger(value) && (value as number) >= min,
});
/** The same where there need be no end. */
const wholeOrEndless = (min: number): Rule => {
  const { needs, isKept } = wholeFrom(min);
  return { needs: `${needs}, or Infinity`, isKept: (value) => value === Infinity || isKept(value) };
};
const ruleOf = (needs: string, isKept: Rule["isKept"]): Rule => ({ needs, isKept });
const anObject = ruleOf("an object", (value) => typeof value === "object" && value !== null);

const OPEN: Record<keyof OpenOptions, Rule> = {
  planted: ruleOf("a list of bugs", Array.isArray),
  opened: ruleOf("a regular expression", (value) => value instanceof RegExp),
  aliases: anObject,
  trace: ruleOf("true or false", (value) => typeof value === "boolean"),
};

const SIMULATE: Record<keyof SimulateOptions, Rule> = {
  ...OPEN,
  seeds: wholeFrom(1),
  from: wholeFrom(0),
  plan: anObject,
  workers: wholeFrom(1),
  minutes: ruleOf("a number above 0", (value) => typeof value === "number" && value > 0),
  shrinks: wholeOrEndless(0),
  failuresMax: wholeOrEndless(1),
  onRun: ruleOf("a function", (value) => typeof value === "function"),
};

/** @throws Error that names the option which is wrong */
export const checkOpenOptions = (options: OpenOptions): void => check("openSimulation", OPEN, options);

/** @throws Error that names the option which is wrong */
export const checkSimulateOptions = (options: SimulateOptions<never>): void => check("simulate", SIMULATE, options);

function check(caller: string, rules: Readonly<Record<string, Rule>>, options: object): void {
  for (const [name, value] of Object.entries(options)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (!rule) throw new Error(`${caller}: there is no option "${name}"; there are ${Object.keys(rules).join(", ")}`);
    if (value !== undefined && !rule.isKept(value))
      throw new Error(`${caller}: ${name} must be ${rule.needs}, not ${String(value)}`);
  }
}
