// `npm run token`: prints a token for the local server, signed with its secret.
import { tokenFrom } from "./command/token.ts";
import { readLocalSettings } from "./local-variables.ts";
import { helpOf } from "./options.ts";

try {
  console.log(await tokenFrom(process.argv.slice(2), () => readLocalSettings()));
} catch (error) {
  console.error(`${error instanceof Error ? error.message : String(error)}\n${helpOf("token")}`);
  process.exit(1);
}
