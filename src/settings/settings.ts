// Reads the settings of a deployment from its variables and secrets: strings in, values or a list of all that is wrong out.
// Called by the Worker, the objects and the scripts. declared.ts declares each setting.
import * as z from "zod/mini";

import { readAs } from "../protocol/input.ts";
import type { ClaimNames } from "./tokens/claims.ts";
import { DECLARED, type Declared, type Setting } from "./declared.ts";
import { RULES } from "./setting-rules.ts";

/** Anything that holds settings by name: a Worker's `env`, or `process.env`. */
export type Variables = Readonly<Record<string, unknown>>;

/** The declared settings. Defaults that depend on other settings are filled in. */
export interface Settings extends Declared {
  readonly environment: "development" | "production";
  readonly guestAccess: boolean;
  readonly guestRatePerIp: number;
}

export type SettingsResult =
  | { readonly ok: true; readonly settings: Settings }
  /** One line per setting that is wrong: `NAME: what is wrong`. */
  | { readonly ok: false; readonly problems: readonly string[] };

const ENTRIES = Object.entries<Setting>(DECLARED);

/** Names of all settings that this deployment reads, `ENVIRONMENT` among them. */
export const SETTING_NAMES: readonly string[] = ["ENVIRONMENT", ...ENTRIES.map(([, { name }]) => name)];

let last: { readonly values: readonly unknown[]; readonly result: SettingsResult } | undefined;

/** The settings of a deployment. Read again only where one has changed, because reading costs more than the rest of a wake. */
export function settingsOf(env: Variables): SettingsResult {
  const values = SETTING_NAMES.map((name) => env[name]);
  const isSame = last?.values.every((value, at) => value === values[at]) ?? false;
  if (!last || !isSame) last = { values, result: readSettings(env) };
  return last.result;
}

/** An empty value counts as none, as it does where a variable cannot be unset. */
export function readSettings(variables: Variables): SettingsResult {
  // An environment that is not plainly development gets the rules of production.
  const environment = variables["ENVIRONMENT"] === "development" ? "development" : "production";
  const given = ENTRIES.map(([key, { name }]) => [key, variables[name]] as const);
  const parsed = readAs(
    schemaFor(environment),
    Object.fromEntries(given.filter(([, value]) => value !== undefined && value !== "")),
  );
  if (parsed.success) return { ok: true, settings: settingsFrom(parsed.data as Declared, environment) };
  const problems = parsed.error.issues.map(({ path: [key, ...rest], message }) => {
    const { name } = DECLARED[key as keyof Declared];
    return `${[name, ...rest].join(".")}: ${message}`;
  });
  return { ok: false, problems };
}

function schemaFor(environment: Settings["environment"]): z.ZodMiniType {
  const isDevelopment = environment === "development";
  const shape = ENTRIES.map(([key, { kind, default: value, inDevelopment }]) => {
    const schema = (isDevelopment && kind.developmentSchema) || kind.schema;
    const assumed = isDevelopment ? (inDevelopment ?? value) : value;
    return [key, assumed === undefined ? z.optional(schema) : z._default(schema, assumed)] as const;
  });
  return RULES.reduce<z.ZodMiniType>(
    (schema, { setting, error, isKept }) =>
      schema.check(z.refine((declared) => isKept(declared as Declared), { path: [setting], error })),
    z.object(Object.fromEntries(shape)),
  );
}

function settingsFrom(declared: Declared, environment: Settings["environment"]): Settings {
  const { guestAccess, guestRatePerIp, jwtSecret, messageRate } = declared;
  const isDevelopment = environment === "development";
  return {
    ...declared,
    environment,
    guestAccess: guestAccess ?? (isDevelopment && jwtSecret !== undefined),
    guestRatePerIp: guestRatePerIp ?? (isDevelopment ? 0 : messageRate),
  };
}

/** The names of the claims in tokens of this deployment (TOK-6). */
export const claimNamesOf = ({ claimUser, claimName, claimRole, claimRooms }: Settings): ClaimNames => ({
  user: claimUser,
  name: claimName,
  role: claimRole,
  rooms: claimRooms,
});
