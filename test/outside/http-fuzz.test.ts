// The HTTP API against its own document: Schemathesis reads /openapi.json, makes up valid and invalid requests, and checks
// every answer. Where it cannot run, it is skipped with the reason.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { IS_LONG } from "../host/properties.ts";
import { startServer, type TestServer } from "./servers.ts";
import { ensureInstalled, execute, pythonPackages } from "./packages.ts";
import { tokenFor } from "./stock-clients.ts";

const FOLDER = path.join(import.meta.dirname, "fuzzer");
const FUZZER = pythonPackages("fuzzer", path.join(FOLDER, "requirements.txt"));

/**
 * Two examples per call, 25 with `npm test -- --long`. `positive_data_acceptance` is left out: no schema can say that `before` and `after` exclude each
 * other. One worker, because Hypothesis in threads meets a bug of Python 3.11.
 */
const OPTIONS =
  "--checks all --exclude-checks positive_data_acceptance " +
  `--max-examples ${IS_LONG ? 25 : 2} --seed 20261121 --workers 1`;

/** `coverage` goes through each parameter's and field's borders, hundreds of requests. */
const PHASES = "examples,coverage,fuzzing";

let server: TestServer;
let obstacle: string | undefined;

beforeAll(async () => {
  obstacle = await ensureInstalled(FUZZER);
  // Limits would be all that is found.
  const unlimited = { API_RATE: "100000", API_BURST: "100000", MESSAGE_RATE: "10000", MESSAGE_BURST: "10000" };
  server = await startServer({ settings: unlimited });
});
afterAll(() => server?.stop());

interface Run {
  readonly configuration?: string;
  readonly selection?: readonly string[];
  readonly phases?: string;
}

/** @returns the fuzzer's output; rejects with it if the fuzzer found a fault */
async function fuzz({ configuration, selection = [], phases = PHASES }: Run): Promise<string> {
  const authorization = `Authorization: Bearer ${await tokenFor("fuzzer", { role: "service" })}`;
  const config = configuration === undefined ? [] : ["--config-file", path.join(FOLDER, configuration)];
  const run = [
    "run",
    `${server.url}/openapi.json`,
    "--header",
    authorization,
    ...OPTIONS.split(" "),
    "--phases",
    phases,
    ...selection,
  ];
  // It keeps examples where it runs.
  const cwd = mkdtempSync(path.join(tmpdir(), "parley-fuzz-"));
  try {
    const schemathesis = path.join(FUZZER.folder, "venv", "bin", "schemathesis");
    return await execute([schemathesis, "--no-color", ...config, ...run], { cwd });
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

describe("random HTTP requests", () => {
  // Both at once: each keeps but one core busy.
  it.concurrent.for<[where: string, run: Run]>([
    ["of any name", {}],
    // Deleting is left out, so that there is something to read.
    [
      "with a history",
      {
        configuration: "one-room.toml",
        selection: ["--exclude-operation-id", "deleteRoom"],
        // The borders are tried in rooms of any name.
        ...(!IS_LONG && { phases: "examples,fuzzing" }),
      },
    ],
  ])("to rooms %s find no 5xx, and no answer that is not in the document: API-12", async ([, run], ctx) => {
    ctx.skip(obstacle !== undefined, obstacle);
    const output = await fuzz(run);
    expect(output).toMatch(/Test cases:\s+\d{3,} generated, \d+ passed/);
    expect(output).not.toMatch(/Schema Error|unsupported/i);
  });

  it("leave the server working", async () => {
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
    expect(server.output).not.toMatch(/a request failed|uncaught/i);
  });
});
