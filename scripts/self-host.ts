// The server behind `npm run serve`: the production bundle in workerd, without `wrangler dev` in front of it.
//   node scripts/self-host.ts [--state DIR]     PORT, HOST and all settings from the environment or .dev.vars
import path from "node:path";

import { helpOf, readOptions, runCommand } from "./options.ts";
import { serveAlone } from "./serve/self-hosted.ts";

const STATE_DEFAULT = path.join(".wrangler", "serve");

await runCommand("serve", async () => {
  const { values } = readOptions(helpOf("serve"), { options: { state: { type: "string", default: STATE_DEFAULT } } });
  await serveAlone(values.state);
});
