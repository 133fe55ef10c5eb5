// Checks the settings, by the declarations and rules that the Worker itself reads them with: as a deployment has them, and as they are on
// this machine. Called by command.ts. Secrets of a deployment cannot be seen from here.
import { compressionProblem } from "../../src/settings/compression-flags.ts";
import { DECLARED, type Setting } from "../../src/settings/declared.ts";
import { KEY_RULE, warningsOf } from "../../src/settings/setting-rules.ts";
import { readSettings, type Variables } from "../../src/settings/settings.ts";
import { COMPRESSING_FLAG, FLAG } from "../chat-parts.ts";
import { misspeltIn } from "../misspelt-settings.ts";
import type { Facts } from "./facts.ts";
import { error, note, warning, type Finding } from "./finding.ts";

/** The settings that have a schema of their own for development: only about secrets is development less strict. */
const SECRETS: readonly string[] = Object.values<Setting>(DECLARED)
  .filter(({ kind }) => kind.developmentSchema !== undefined)
  .map(({ name }) => name);
const KEYS = ["JWT_SECRET", "JWT_PUBLIC_KEY", "JWT_JWKS_URL"];
/** In the place of a secret that is not to be seen: a good one. */
const STAND_IN = "x".repeat(64);

export function checkSettings(facts: Facts): Finding[] {
  if (!facts.isChat) return [];
  return [
    ...deployedSettings(facts),
    ...localSettings(facts),
    ...keyFindings(facts),
    ...exposed(facts),
    ...misspelled(facts),
    ...compression(facts),
  ];
}

/** An empty value counts as none. */
const isGiven = (value: unknown): boolean => value !== undefined && value !== "";

function deployedSettings({ config, localSecrets }: Facts): Finding[] {
  const secrets = [...(config.secrets?.required ?? []), ...Object.keys(localSecrets)].filter((name) =>
    SECRETS.includes(name),
  );
  const result = readSettings({ ...Object.fromEntries(secrets.map((name) => [name, STAND_IN])), ...config.vars });
  if (result.ok) return warningsOf(result.settings).map((text) => warning("setting.warning", text));
  return result.problems.map((problem) => {
    // A secret among the variables is seen.
    const isUnseen =
      SECRETS.some((name) => problem.startsWith(`${name}:`) && !isGiven(config.vars[name])) ||
      problem.includes("needs JWT_SECRET");
    const unseen = "The secrets of a deployment cannot be seen from here: npx wrangler secret list";
    return isUnseen ? warning("setting.secret", problem, unseen) : error("setting.bad", problem);
  });
}

/** The variables of `wrangler dev`, with .dev.vars over them. */
function localSettings({ config, localSecrets }: Facts): Finding[] {
  if (Object.keys(localSecrets).length === 0) return [];
  // The project's own commands say whether they run as development, and in that a local secret may be short.
  const result = readSettings({ ENVIRONMENT: "development", ...config.vars, ...localSecrets });
  if (result.ok) return [];
  return result.problems.map((problem) => error("setting.bad-locally", `.dev.vars: ${problem}`));
}

function keyFindings({ config, localSecrets }: Facts): Finding[] {
  const isSet = (variables: Variables): boolean => KEYS.some((name) => isGiven(variables[name]));
  if (isSet(config.vars) || KEYS.some((name) => config.secrets?.required?.includes(name))) return [];
  const put = "Deployed: openssl rand -base64 32 | npx wrangler secret put JWT_SECRET";
  if (isSet(localSecrets))
    return [
      note(
        "key.local",
        "The key is in .dev.vars; a deployment needs one of its own, which cannot be seen from here.",
        put,
      ),
    ];
  const name = DECLARED[KEY_RULE.setting].name;
  return [
    warning(
      "key.missing",
      `${name}: ${KEY_RULE.error}. Without a key the chat refuses everybody, unless createParley has \`authenticate\`.`,
      `${put}. On this machine: a line JWT_SECRET=… in .dev.vars.`,
    ),
  ];
}

/** Values in the configuration that are seldom meant for all visitors. */
function exposed({ config }: Facts): Finding[] {
  const plain = SECRETS.filter((name) => isGiven(config.vars[name]));
  return [
    ...plain.map((name) =>
      warning(
        "setting.plain-secret",
        `${name} is a variable in the configuration, and so in your repository.`,
        `Take it out, and: npx wrangler secret put ${name}`,
      ),
    ),
    ...(config.vars["ENVIRONMENT"] === "development"
      ? [
          warning(
            "setting.development",
            "ENVIRONMENT=development in the configuration: a deployment admits guests and pages of any origin, and limits no connections.",
            "Take it out; for your machine: wrangler dev --var ENVIRONMENT:development",
          ),
        ]
      : []),
  ];
}

/** Other variables are the application's own. */
function misspelled({ config }: Facts): Finding[] {
  return misspeltIn(Object.keys(config.vars)).map((problem) =>
    warning("setting.unknown", problem, "docs/settings.md lists all."),
  );
}

function compression({ config }: Facts): Finding[] {
  const flags = config.compatibility_flags;
  const isOn = flags.includes(COMPRESSING_FLAG) || !flags.includes(FLAG);
  const isMeant = config.vars["COMPRESSION"] === "on";
  const problem = compressionProblem(isMeant, { [COMPRESSING_FLAG]: isOn });
  if (problem === undefined) return [];
  const remedy = isMeant
    ? `Take "${FLAG}" out of compatibility_flags, or COMPRESSION out of the variables.`
    : flags.includes(COMPRESSING_FLAG)
      ? `Take "${COMPRESSING_FLAG}" out of compatibility_flags, or set the variable COMPRESSION to on.`
      : `Add "${FLAG}" to compatibility_flags.`;
  return [error("flag.compression", problem, remedy)];
}
