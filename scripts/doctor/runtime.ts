// Checks the runtime: compatibility date and flags, versions of packages, and the runtimes on this machine. Called by command.ts.
import { satisfies } from "semver";

import { COMPRESSING_FLAG, FLAG } from "../chat-parts.ts";
import type { Facts } from "./facts.ts";
import { error, note, warning, type Finding } from "./finding.ts";
import type { Versions } from "./versions.ts";

/** Objects call each other by RPC from this date on. */
const DATE_MIN = "2024-04-03";
/** The date that the package is tested with. */
const DATE_TESTED = "2026-08-01";
/** workerd refuses to start with a date further ahead of its own. */
const DAYS_AHEAD = 7;

export function checkRuntime(facts: Facts): Finding[] {
  return [...node(facts), ...dates(facts), ...uncompressed(facts), ...packages(facts), ...environments(facts)];
}

function node({
  versions: {
    node: { running, needed },
  },
}: Facts): Finding[] {
  if (needed === undefined || satisfies(running, needed)) return [];
  return [
    error("node.old", `Wrangler needs Node ${needed}; this is ${running}.`, "https://nodejs.org has newer ones."),
  ];
}

function dates({ config: { compatibility_date: date, compatibility_flags: flags }, versions }: Facts): Finding[] {
  if (date === undefined)
    return [warning("date.missing", "There is no compatibility_date.", `Set compatibility_date = "${DATE_TESTED}".`)];
  if (date < DATE_MIN && !flags.includes("rpc"))
    return [
      error(
        "date.old",
        `The compatibility_date ${date} is before ${DATE_MIN}, when objects began to call each other.`,
        `Parley is tested with ${DATE_TESTED}.`,
      ),
    ];
  if (date < DATE_TESTED)
    return [note("date.untested", `Parley is tested with the compatibility_date ${DATE_TESTED}; yours is ${date}.`)];
  return [...versions.workerds].flatMap(([version, by]) => {
    const last = lastDateOf(version);
    if (last === undefined || date <= last) return [];
    const message = `workerd ${version} (${by.join(", ")}) takes compatibility dates until ${last}; yours is ${date}.`;
    return [warning("date.new", message, `Set compatibility_date = "${last}", or update these packages.`)];
  });
}

/** The newest date that a version of workerd takes, `1.20261102.1` for example: a week after its own. Called by run-tests.ts, too. */
export function lastDateOf(version: string): string | undefined {
  const [, year, month, day] = /^1\.(\d{4})(\d\d)(\d\d)\./.exec(version) ?? [];
  if (day === undefined) return undefined;
  return new Date(Date.UTC(Number(year), Number(month) - 1, Number(day) + DAYS_AHEAD)).toISOString().slice(0, 10);
}

/** In the chat a setting decides (settings.ts); elsewhere the flag alone. */
function uncompressed({ config: { compatibility_flags: flags }, isChat }: Facts): Finding[] {
  if (isChat || flags.includes(FLAG) || flags.includes(COMPRESSING_FLAG)) return [];
  return [
    warning(
      "flag.compression",
      "Frames are compressed, which costs some 200 KB of memory per connection and up to half as much CPU again.",
      `Add "${FLAG}" to compatibility_flags; or "${COMPRESSING_FLAG}", if you mean it.`,
    ),
  ];
}

function packages({ versions: { parley, workerds, wranglerOfTests } }: Facts): Finding[] {
  if (parley === undefined)
    return [error("package.missing", "parley-rooms is not installed in this project.", "npm install parley-rooms")];
  return workerds.size > 1 ? [twoRuntimes(workerds, wranglerOfTests)] : [];
}

function twoRuntimes(workerds: Versions["workerds"], wrangler: string | undefined): Finding {
  const each = [...workerds].map(([version, by]) => `workerd ${version} (${by.join(", ")})`).join(", ");
  return warning(
    "package.two-runtimes",
    `There are ${workerds.size} runtimes: ${each}. Tests run on another one than wrangler dev.`,
    wrangler === undefined
      ? "Install versions of wrangler and @cloudflare/vitest-plugin that were released together."
      : `npm install --save-dev --save-exact wrangler@${wrangler}`,
  );
}

/** A name that the configuration does not have: the other findings are those of its top level. */
function environments({ config: { definedEnvironments = [] }, environment }: Facts): Finding[] {
  if (environment === undefined || definedEnvironments.includes(environment)) return [];
  return [
    error(
      "env.unknown",
      `The configuration has no environment "${environment}".`,
      definedEnvironments.length > 0 ? `There are ${definedEnvironments.join(", ")}.` : "It has none: leave out --env.",
    ),
  ];
}
