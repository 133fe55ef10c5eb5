// `npm run token`: prints a token for the local server, signed with its secret.
import { parseArgs } from "node:util";

import { signToken, TokenVerifier } from "../src/settings/tokens/tokens.ts";
import { isRoomName } from "../src/protocol/room-name.ts";
import { claimNamesOf } from "../src/settings/settings.ts";
import { readLocalSettings } from "./local-variables.ts";
import { helpOf } from "./help.ts";

const ROLES = ["member", "moderator", "reader", "service"];
const SECONDS_BY_UNIT = new Map([
  ["s", 1],
  ["m", 60],
  ["h", 3600],
  ["d", 86_400],
]);

try {
  console.log(await tokenFrom(process.argv.slice(2)));
} catch (error) {
  console.error(`${error instanceof Error ? error.message : String(error)}\n${helpOf("token")}`);
  process.exit(1);
}

async function tokenFrom(args: string[]): Promise<string> {
  const { values } = parseArgs({
    args,
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
  const settings = readLocalSettings();
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
