// Rules between settings: a broken one stops the start. Checked by settings.ts; docs/settings.md lists them.
import { TIMER_MS_MAX, type Declared } from "./declared.ts";

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
    setting: "jwtSecret",
    error: "is missing, and so are JWT_PUBLIC_KEY and JWT_JWKS_URL: no token can be verified",
    isKept: ({ jwtSecret, jwtPublicKey, jwtJwksUrl }) =>
      [jwtSecret, jwtPublicKey, jwtJwksUrl].some((key) => key !== undefined),
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
    error: "is missing: WEBHOOK_URL needs it, to sign what is sent there",
    isKept: ({ webhookUrl, webhookSecret }) => webhookUrl === undefined || webhookSecret !== undefined,
  },
];
