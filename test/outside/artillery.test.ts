// The Artillery scenario, run by Artillery itself with its Socket.IO engine: installed apart, for it is bigger than all the rest.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, inject, it } from "vitest";

import { installPinned } from "../../scripts/measuring/install-pinned.ts";
import { ProcessGroup, PROJECT_ROOT } from "./servers.ts";
import { tokenFor } from "./stock-clients.ts";

const FOLDER = path.join(PROJECT_ROOT, ".bench", "artillery");
const USERS = 50;

const missing = await installPinned({
  source: path.join(PROJECT_ROOT, "scripts", "load", "artillery"),
  target: FOLDER,
  what: "Artillery",
}).then(
  () => undefined,
  (error: Error) => error.message,
);

interface Report {
  readonly aggregate: { readonly counters: Readonly<Record<string, number>> };
}

const title = "users come by socket.io-client, post with acks, and read the history: nobody fails";

it.skipIf(missing !== undefined)(missing === undefined ? title : `${title} (${missing})`, async () => {
  const tokens = await Promise.all(Array.from({ length: USERS }, (_, index) => tokenFor(`artillery-${index}`)));
  writeFileSync(path.join(FOLDER, "tokens.csv"), `${tokens.join("\n")}\n`);
  const output = path.join(FOLDER, "report.json");
  const overrides = JSON.stringify({ config: { phases: [{ duration: 2, arrivalRate: 5 }] } });
  const artillery = new ProcessGroup({
    args: [
      path.join(FOLDER, "node_modules", "artillery", "bin", "run"),
      "run",
      "--target",
      inject("serverUrl"),
      "--overrides",
      overrides,
      "--output",
      output,
      path.join(FOLDER, "chat.yml"),
    ],
    env: { ARTILLERY_DISABLE_TELEMETRY: "true", ARTILLERY_DISABLE_UPDATE_CHECK: "true" },
  });
  expect(await artillery.exit(), artillery.output).toBe(0);
  const { counters } = (JSON.parse(readFileSync(output, "utf8")) as Report).aggregate;
  expect(counters["vusers.completed"]).toBe(10);
  expect(counters["vusers.failed"] ?? 0).toBe(0);
  // Five posts and one page of history each.
  expect(counters["socketio.emit"]).toBe(60);
});
