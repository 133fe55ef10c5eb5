// Examines a project: reads the facts, and runs all checks on them. Called by command.ts.
import { checkBindings } from "./bindings.ts";
import { readFacts, Unreadable } from "./facts.ts";
import { error, LEVELS, type Finding } from "./finding.ts";
import { checkRuntime } from "./runtime.ts";
import { checkSettings } from "./settings.ts";

/** @returns the worst first */
export async function examine(folder: string, environment?: string): Promise<Finding[]> {
  try {
    const facts = await readFacts(folder, environment);
    const findings = [checkRuntime, checkBindings, checkSettings].flatMap((check) => check(facts));
    return findings.toSorted((one, other) => LEVELS.indexOf(one.level) - LEVELS.indexOf(other.level));
  } catch (problem) {
    if (problem instanceof Unreadable) return [error("project.unreadable", problem.message)];
    throw problem;
  }
}
