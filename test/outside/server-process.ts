// One test server in a process of its own: a deployment in workerd, with the settings of the environment. servers.ts starts it as
// `node test/outside/server-process.ts DEPLOYMENT-FILE STATE-DIRECTORY`.
import { overridesFromEnvironment } from "../../scripts/setting-overrides.ts";
import { onStop } from "../../scripts/stopping.ts";
import { HOST, runDeployment } from "./deployment.ts";

const [deploymentFile, stateDir] = process.argv.slice(2);
const port = Number(process.env["PORT"]);
const runtime = await runDeployment(deploymentFile!, overridesFromEnvironment(), { port, stateDir: stateDir! });
let stopping: Promise<void> | undefined;
onStop(() => void (stopping ??= runtime.stop().then(() => process.exit(0))));
console.log(`Ready on http://${HOST}:${port}`);
