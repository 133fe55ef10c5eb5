// Rules between settings: a broken one stops the start, a warning is logged at the start. Called by settings.ts and the Worker.
import { TIMER_MS_MAX, type Declared } from "./declared.ts";
import type { Settings } from "./settings.ts";

export interface SettingRule {
  /** The setting that the error names. */
  readonly setting: keyof Declared;
  readonly error: string;
  readonly isKept: (declared: Declared) => boolean;
}

export const RULES: readonly SettingRule[] = [
  {
    setting: "pingIntervalMs",
    error: "plus PING_TIMEOUT_MS must stay below 2^31 (timers of clients overflow there)",
    isKept: ({ pingIntervalMs, pingTimeoutMs }) => pingIntervalMs + pingTimeoutMs <= TIMER_MS_MAX,
  },
  {
    setting: "jwtPublicKey",
    error: "and JWT_JWKS_URL exclude each other: a token would not say which of them to ask",
    isKept: ({ jwtPublicKey, jwtJwksUrl }) => jwtPublicKey === undefined || jwtJwksUrl === undefined,
  },
  {
    setting: "jwtSecretPrevious",
    error: "is set without JWT_SECRET, which it was before",
    isKept: ({ jwtSecret, jwtSecretPrevious }) => jwtSecret !== undefined || jwtSecretPrevious === undefined,
  },
  {
    setting: "guestAccess",
    error: "on needs JWT_SECRET, which signs the tokens of guests",
    isKept: ({ guestAccess, jwtSecret }) => guestAccess !== true || jwtSecret !== undefined,
  },
  {
    setting: "webhookSecret",
    error: "is missing: WEBHOOK_URL needs it, to sign the requests",
    isKept: ({ webhookUrl, webhookSecret }) => webhookUrl === undefined || webhookSecret !== undefined,
  },
];

/** Whether the settings have a key that verifies tokens. */
export const hasKey = ({ jwtSecret, jwtPublicKey, jwtJwksUrl }: Declared): boolean =>
  [jwtSecret, jwtPublicKey, jwtJwksUrl].some((key) => key !== undefined);

/** A rule of the Worker, whose own code may know its users by other means than tokens (`authenticate` of createParley). */
export const KEY_RULE: SettingRule = {
  setting: "jwtSecret",
  error:
    "is missing, and so are JWT_PUBLIC_KEY, JWT_JWKS_URL and the authenticate of createParley: no user can be known",
  isKept: hasKey,
};

/** Settings that work and are seldom meant. */
export interface SettingWarning {
  /** The variable. */
  readonly name: string;
  readonly warning: string;
  /** @param features the names of those that createParley has; absent: not known */
  readonly isDue: (settings: Settings, features?: readonly string[]) => boolean;
}

const WARNINGS: readonly SettingWarning[] = [
  {
    name: "JWT_AUDIENCE",
    warning: "is not set: tokens that JWT_JWKS_URL's provider gave for any other application open this one",
    isDue: ({ jwtJwksUrl, jwtAudience }) => jwtJwksUrl !== undefined && jwtAudience === undefined,
  },
  {
    name: "GUEST_ROOMS",
    warning: "is not set: guests may enter every room, and write to any user",
    isDue: ({ environment, guestAccess, guestRooms }) =>
      environment === "production" && guestAccess && guestRooms === undefined,
  },
  {
    name: "WEBHOOK_URL",
    warning: "is set without effect: createParley has no feature webhooks",
    isDue: ({ webhookUrl }, features) => webhookUrl !== undefined && features?.includes("webhooks") === false,
  },
];

/** One line per warning, `NAME: warning`. */
export const warningsOf = (settings: Settings, features?: readonly string[]): string[] =>
  WARNINGS.filter(({ isDue }) => isDue(settings, features)).map(({ name, warning }) => `${name}: ${warning}`);
