// `npx parley-rooms token`: prints a token for the Worker in this folder, as its backend would sign one. Called by main.ts.
import { readSettings, type Settings } from "../../src/settings/settings.ts";
import { readLocalVariables, Unreadable } from "../doctor/facts.ts";
import { overridesFromEnvironment } from "../setting-names.ts";
import { tokenFrom } from "../token-arguments.ts";

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
