// The local server behind `npm start`: `wrangler dev` with this machine's settings, quiet until it is ready.
// `--state DIR` keeps rooms elsewhere than in .wrangler/state; the tests use it.
import path from "node:path";

import { withCompression } from "../src/settings/compression-flags.ts";
import { overridesFromEnvironment } from "./setting-overrides.ts";
import { readLocalSettings, readLocalVariables, warnOfMisspeltSettings } from "./local-variables.ts";
import { assertPortFree, readPort } from "./port.ts";
import { helpOf, readOptions, runCommand } from "./options.ts";
import { DEV_HOST, runWranglerDev, wranglerLogLevelFor } from "./serve/wrangler-dev.ts";

const { values: options } = readOptions(helpOf("start"), {
  options: { state: { type: "string", default: path.join(".wrangler", "state") } },
});

await runCommand("start", async () => {
  const port = readPort(process.env["PORT"]);
  const { compression } = readLocalSettings();
  warnOfMisspeltSettings();
  await assertPortFree(port, DEV_HOST, "npm start");
  const variables = Object.entries(overridesFromEnvironment()).map(([name, value]) => `${name}:${value}`);
  const date = process.env["COMPATIBILITY_DATE"];
  const args = [
    "--env",
    "development",
    // As in serve/runtime.ts.
    ...(date === undefined ? [] : ["--compatibility-date", date]),
    // They take the place of those in wrangler.toml, of which no other concerns this machine.
    ...withCompression([], compression).flatMap((flag) => ["--compatibility-flags", flag]),
    ...variables.flatMap((variable) => ["--var", variable]),
  ];
  const logLevel = wranglerLogLevelFor(readLocalVariables()["LOG_LEVEL"]);
  await runWranglerDev({ port, readyPath: "/health", stateDir: options.state, logLevel, args });
});
