// `npx parley-rooms token`: prints a token for the Worker in this folder, as its backend would sign one. Called by main.ts; scripts/token.ts
// signs with the same arguments.
import { parseArgs } from "node:util";

import { isRoomName } from "../../src/protocol/room-name.ts";
import { claimNamesOf, readSettings, type Settings } from "../../src/settings/settings.ts";
import { signToken, TokenVerifier } from "../../src/settings/tokens/tokens.ts";
import { readLocalVariables, Unreadable } from "../doctor/facts.ts";
import { overridesFromEnvironment } from "../setting-overrides.ts";

const HELP = `Usage: npx parley-rooms token --user ID [OPTIONS]

Prints a token for the Worker in this folder, signed with JWT_SECRET of .dev.vars; settings in the environment win:
JWT_SECRET=… npx parley-rooms token --user ada   signs for a deployment with that secret.

  --user ID     the user's id
  --name NAME   the name that others see (default: the id)
  --room NAME   opens this room only, or those that begin so: news-*; may be repeated (default: all)
  --role ROLE   member, moderator, reader or service (default: member)
  --ttl TIME    until it ends: 90s, 15m, 1h, 7d (default: 1h)
  --help, -h    shows this
`;

export async function token(args: readonly string[]): Promise<number> {
  if (args.includes("--help") || args.includes("-h")) {
    process.stdout.write(HELP);
    return 0;
  }
  try {
    console.log(await tokenFrom(args, settingsHere));
    return 0;
  } catch (error) {
    if (error instanceof TypeError || !(error instanceof Error)) throw error;
    console.error(error.message);
    return 1;
  }
}

/** @throws Error that names the problem */
async function settingsHere(): Promise<Settings> {
  const given = overridesFromEnvironment();
  // Outside a project the environment has to have it all.
  const local = await readLocalVariables(process.cwd(), undefined).catch((error: unknown) => {
    if (error instanceof Unreadable && given["JWT_SECRET"] !== undefined) return {};
    throw error;
  });
  const result = readSettings({ ENVIRONMENT: "development", ...local, ...given });
  if (!result.ok) throw new Error(["These settings are wrong:", ...result.problems].join("\n  "));
  if (result.settings.jwtSecret === undefined)
    throw new Error("There is no JWT_SECRET: neither in .dev.vars nor in the environment.");
  return result.settings;
}

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
      throw new Error(`--room ${rule} is no room name, and no prefix that ends with *.`);
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
  if (!count || !unit) throw new Error(`--ttl must be a number with s, m, h or d, not ${ttl}.`);
  return Number(count) * SECONDS_BY_UNIT.get(unit)!;
}
