// Signs a token as the arguments of a command want it. Called by token.ts, and by the package's command (command/token.ts).
import { parseArgs } from "node:util";

import { isRoomName } from "../src/protocol/room-name.ts";
import { claimNamesOf, type Settings } from "../src/settings/settings.ts";
import { signToken, TokenVerifier } from "../src/settings/tokens/tokens.ts";

const ROLES = ["member", "moderator", "reader", "service"];
const SECONDS_BY_UNIT = new Map([
  ["s", 1],
  ["m", 60],
  ["h", 3600],
  ["d", 86_400],
]);

/**
 * @param settings gives those of the server that is to accept the token, once the arguments are good
 * @throws Error that names the bad argument, or why no server would accept the token
 */
export async function tokenFrom(
  args: readonly string[],
  settingsOf: () => Settings | Promise<Settings>,
): Promise<string> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      user: { type: "string" },
      name: { type: "string" },
      room: { type: "string", multiple: true },
      role: { type: "string", default: "member" },
      ttl: { type: "string", default: "1h" },
    },
  });
  const { user, name, room, role, ttl } = values;
  if (!user) throw new Error("--user is missing.");
  if (!ROLES.includes(role)) throw new Error(`--role must be one of ${ROLES.join(", ")}.`);
  for (const rule of room ?? []) {
    if (!isRoomName(rule.replace(/\*$/, "x")))
      throw new Error(`--room ${rule} is no room name, nor a prefix with * behind it.`);
  }
  const settings = await settingsOf();
  const { jwtSecret, jwtIssuer: issuer, jwtAudience: audience } = settings;
  if (jwtSecret === undefined) throw new Error("JWT_SECRET is empty.");
  const token = await signToken(
    jwtSecret,
    { user, role, name, rooms: room, issuer, audience, names: claimNamesOf(settings) },
    secondsOf(ttl),
  );
  const verdict = await new TokenVerifier(settings).verify(token);
  if (!verdict.ok) throw new Error(`No server would accept this token. ${verdict.message}.`);
  return token;
}

/** `90s`, `15m`, `1h`, `7d` */
function secondsOf(ttl: string): number {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(ttl) ?? [];
  if (!count || !unit) throw new Error(`--ttl must be a number with s, m, h or d behind it, not ${ttl}.`);
  return Number(count) * SECONDS_BY_UNIT.get(unit)!;
}
