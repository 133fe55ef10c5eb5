// Settings that work and are seldom meant. The Worker logs the warnings when it starts; docs/settings.md lists them.
import type { Settings } from "./settings.ts";

export interface SettingWarning {
  /** The variable. */
  readonly name: string;
  readonly warning: string;
  readonly isDue: (settings: Settings) => boolean;
}

export const WARNINGS: readonly SettingWarning[] = [
  {
    name: "JWT_AUDIENCE",
    warning: "is not set: tokens that JWT_JWKS_URL's provider gave for any other application open this one",
    isDue: ({ jwt }) => jwt.jwksUrl !== undefined && jwt.audience === undefined,
  },
  {
    name: "GUEST_ROOMS",
    warning: "is not set: guests may enter every room, and write to anybody",
    isDue: ({ environment, guestAccess, guestRooms }) =>
      environment === "production" && guestAccess && guestRooms === undefined,
  },
];

/** One line for each setting, `NAME: what is to be thought of`. */
export const warningsOf = (settings: Settings): string[] =>
  WARNINGS.filter(({ isDue }) => isDue(settings)).map(({ name, warning }) => `${name}: ${warning}`);
