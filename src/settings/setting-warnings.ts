// Says what of a deployment's settings works and is seldom meant. The Worker logs it when it begins with them.
import type { Settings } from "./settings.ts";

/** One line for each setting, `NAME: what is to be thought of`. */
export function warningsOf({ jwt, environment, guestAccess, guestRooms }: Settings): string[] {
  const warnings: string[] = [];
  if (jwt.jwksUrl !== undefined && jwt.audience === undefined) {
    warnings.push(
      "JWT_AUDIENCE: is not set: tokens that JWT_JWKS_URL's provider gave for any other application open this one",
    );
  }
  if (environment === "production" && guestAccess && guestRooms === undefined) {
    warnings.push("GUEST_ROOMS: is not set: guests may enter every room, and write to anybody");
  }
  return warnings;
}
