// The local server behind `npm run race`: docs/examples/typing-race in `wrangler dev`, over this repository's sources.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { parse } from "jsonc-parser";

import { PROJECT_ROOT } from "./local-variables.ts";
import { helpOf, readOptions, runCommand } from "./options.ts";
import { assertPortFree, readPort } from "./port.ts";
import { DEV_HOST, runWranglerDev } from "./serve/wrangler-dev.ts";

const EXAMPLE = path.join(PROJECT_ROOT, "docs", "examples", "typing-race");
const CONFIG = path.join(PROJECT_ROOT, ".wrangler", "race.json");

interface ExampleConfig {
  readonly main: string;
  readonly assets: { readonly directory: string };
  readonly build: { readonly command: string; readonly watch_dir: string };
}

const { values: options } = readOptions(helpOf("race"), {
  options: { state: { type: "string", default: path.join(".wrangler", "race") } },
});

await runCommand("race", async () => {
  const port = readPort(process.env["PORT"]);
  await assertPortFree(port, DEV_HOST, "npm run race");
  mkdirSync(path.dirname(CONFIG), { recursive: true });
  writeFileSync(CONFIG, JSON.stringify(configHere()));
  await runWranglerDev({
    port,
    readyPath: "/",
    stateDir: path.resolve(PROJECT_ROOT, options.state),
    logLevel: "warn",
    args: ["--config", CONFIG],
  });
});

/** The example's own configuration. The package's name leads nowhere there, because the example has a package.json. */
function configHere(): object {
  const config = parse(readFileSync(path.join(EXAMPLE, "wrangler.jsonc"), "utf8")) as ExampleConfig;
  const { main, assets, build } = config;
  return {
    ...config,
    main: path.join(EXAMPLE, main),
    assets: { ...assets, directory: path.join(EXAMPLE, assets.directory) },
    build: { ...build, cwd: EXAMPLE, watch_dir: path.join(EXAMPLE, build.watch_dir) },
    alias: { "parley-rooms/socketio": path.join(PROJECT_ROOT, "src", "entries", "socketio.ts") },
  };
}
