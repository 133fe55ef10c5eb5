// Asks the Worker's own `authenticate` for the sender of a request, and answers where it names no user or fails. Called by identity.ts for
// createParley, and by connect.ts.
import { logProblem } from "../../settings/log.ts";
import { refuseRequest, refuseUnauthenticated } from "./refusals.ts";

/**
 * @param ask calls `authenticate`
 * @param read turns its result into a user or a refusal, and throws for one that is neither
 */
export async function askHost<User extends { readonly exp?: number | undefined }>(
  ask: () => unknown,
  read: (given: unknown) => User | Response,
): Promise<User | Response> {
  try {
    const given = await ask();
    if (given === undefined || given === null)
      return refuseUnauthenticated("UNAUTHORIZED", "The server does not know who sent this request");
    const user = read(given);
    if (user instanceof Response) return user;
    if (user.exp !== undefined && user.exp * 1000 <= Date.now())
      return refuseUnauthenticated("TOKEN_EXPIRED", "The sign-in has expired");
    return user;
  } catch (error) {
    logProblem("authenticate.failed", "authenticate failed", error);
    return refuseRequest("INTERNAL", "The sender is not known right now; try again");
  }
}
