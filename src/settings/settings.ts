// Reads the settings of a deployment from its variables and secrets: strings in, values or a list of all that is wrong out.
// Called by the Worker, the objects and the scripts. declared.ts declares each setting.
import { z } from "zod";

import type { ClaimNames } from "./tokens/claims.ts";
import { DECLARED, type Declared } from "./declared.ts";
import type { LogSettings } from "./log.ts";
import type { Setting } from "./setting.ts";
import { RULES } from "./setting-rules.ts";

/** Anything that holds settings by name: a Worker's `env`, or `process.env`. */
export type Variables = Readonly<Record<string, unknown>>;

/** Settings whose value holds as it is declared. */
type Plain = Omit<
  Declared,
  | `jwt${string}`
  | `claim${string}`
  | `webhook${string}`
  | "guestAccess"
  | "guestRooms"
  | "guestRatePerIp"
  | "metricsToken"
>;

export interface Settings extends Plain, LogSettings {
  readonly environment: "development" | "production";
  readonly guestAccess: boolean;
  /** The rooms that guests' tokens open, as their `rooms`; absent: every room. */
  readonly guestRooms?: readonly string[];
  readonly guestRatePerIp: number;
  readonly jwt: {
    readonly secret?: string;
    /** While the secret is being rotated: tokens that were signed with the one before it are still believed. */
    readonly secretPrevious?: string;
    readonly publicKey?: string;
    readonly jwksUrl?: string;
    readonly issuer?: string;
    readonly audience?: string;
  };
  /** Where tokens say who their bearer is (TOK-6). */
  readonly claims: ClaimNames;
  /** Opens the metrics; absent: everybody reads them, but no names of rooms (MET-4). */
  readonly metricsToken?: string;
  /** The operator's own server, which gets the events of all rooms; absent: no webhooks. */
  readonly webhook?: Webhook;
}

export interface Webhook {
  readonly url: string;
  /** Signs what is sent there. */
  readonly secret: string;
}

export type SettingsResult =
  | { readonly ok: true; readonly settings: Settings }
  /** One line per setting that is wrong: `NAME: what is wrong`. */
  | { readonly ok: false; readonly problems: readonly string[] };

const ENTRIES = Object.entries<Setting>(DECLARED);

/** Names of all settings that this deployment reads, `ENVIRONMENT` among them. */
export const SETTING_NAMES: readonly string[] = ["ENVIRONMENT", ...ENTRIES.map(([, { name }]) => name)];

let last: { readonly values: readonly unknown[]; readonly result: SettingsResult } | undefined;

/** The settings of a deployment, read again only where one has changed: that costs more than all else that a room does when it wakes. */
export function settingsOf(env: Variables): SettingsResult {
  const values = SETTING_NAMES.map((name) => env[name]);
  const isSame = last?.values.every((value, at) => value === values[at]) ?? false;
  if (!last || !isSame) last = { values, result: readSettings(env) };
  return last.result;
}

/** An empty value counts as none, as it does where a variable cannot be unset. */
export function readSettings(variables: Variables): SettingsResult {
  // Whatever is not plainly development gets the rules of production.
  const environment = variables["ENVIRONMENT"] === "development" ? "development" : "production";
  const given = ENTRIES.map(([key, { name }]) => [key, variables[name]] as const);
  const parsed = schemaFor(environment).safeParse(
    Object.fromEntries(given.filter(([, value]) => value !== undefined && value !== "")),
  );
  if (parsed.success) return { ok: true, settings: settingsFrom(parsed.data as Declared, environment) };
  const problems = parsed.error.issues.map(({ path: [key, ...rest], message }) => {
    const { name } = DECLARED[key as keyof Declared];
    return `${[name, ...rest].join(".")}: ${message}`;
  });
  return { ok: false, problems };
}

function schemaFor(environment: Settings["environment"]): z.ZodType {
  const isDevelopment = environment === "development";
  const shape = ENTRIES.map(([key, { kind, default: value, inDevelopment }]) => {
    const schema = (isDevelopment && kind.developmentSchema) || kind.schema;
    const assumed = isDevelopment ? (inDevelopment ?? value) : value;
    return [key, assumed === undefined ? schema.optional() : schema.default(assumed)] as const;
  });
  return RULES.reduce<z.ZodType>(
    (schema, { setting, error, isKept }) =>
      schema.refine((declared) => isKept(declared as Declared), { path: [setting], error }),
    z.object(Object.fromEntries(shape)),
  );
}

function settingsFrom(declared: Declared, environment: Settings["environment"]): Settings {
  const { jwtSecret, jwtSecretPrevious, jwtPublicKey, jwtJwksUrl, jwtIssuer, jwtAudience, ...keyless } = declared;
  const { claimUser, claimName, claimRole, claimRooms, ...unclaimed } = keyless;
  const { guestAccess, guestRooms, guestRatePerIp, metricsToken, webhookUrl, webhookSecret, ...plain } = unclaimed;
  const isDevelopment = environment === "development";
  return {
    ...plain,
    environment,
    guestAccess: guestAccess ?? (isDevelopment && jwtSecret !== undefined),
    ...(guestRooms && { guestRooms }),
    guestRatePerIp: guestRatePerIp ?? (isDevelopment ? 0 : plain.messageRate),
    jwt: {
      ...(jwtSecret && { secret: jwtSecret }),
      ...(jwtSecretPrevious && { secretPrevious: jwtSecretPrevious }),
      ...(jwtPublicKey && { publicKey: jwtPublicKey }),
      ...(jwtJwksUrl && { jwksUrl: jwtJwksUrl }),
      ...(jwtIssuer && { issuer: jwtIssuer }),
      ...(jwtAudience && { audience: jwtAudience }),
    },
    claims: { user: claimUser, name: claimName, role: claimRole, rooms: claimRooms },
    ...(metricsToken && { metricsToken }),
    ...(webhookUrl && webhookSecret && { webhook: { url: webhookUrl, secret: webhookSecret } }),
  };
}
