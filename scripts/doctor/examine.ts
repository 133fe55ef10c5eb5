// Examines a project: reads the facts, and runs all checks on them. Called by main.ts.
import { checkObjects } from "./checks/objects.ts";
import { checkOptions } from "./checks/options.ts";
import { checkQueues } from "./checks/queues.ts";
import { checkRuntime } from "./checks/runtime.ts";
import { checkSettings } from "./checks/settings.ts";
import { readFacts, Unreadable } from "./facts.ts";
import { error, LEVELS, type Finding } from "./finding.ts";

/** @returns the worst first */
export async function examine(folder: string, environment?: string): Promise<Finding[]> {
  try {
    const facts = await readFacts(folder, environment);
    const findings = [checkRuntime, checkObjects, checkOptions, checkQueues, checkSettings].flatMap((check) =>
      check(facts),
    );
    return findings.toSorted((one, other) => LEVELS.indexOf(one.level) - LEVELS.indexOf(other.level));
  } catch (problem) {
    if (problem instanceof Unreadable) return [error("project.unreadable", problem.message)];
    throw problem;
  }
}
