// Three rings: the cores in plain Node, the objects in workerd, and the whole server from outside.
import path from "node:path";

import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Most tests of objects and servers wait more than they work: three files keep the two cores busy that CI has. */
const maxWorkers = 3;

/** Of one file's tests outside that may run side by side: each begins programs, and waits for them. */
const maxConcurrency = 6;

/** A bound against hanging, for a machine that is much slower than a developer's. */
const testTimeout = 60_000;
const setupFiles = ["test/host/patience.setup.ts"];
const expect = { poll: { timeout: 15_000 } };
/** Bundled once, in place of some 150 modules that each file of objects would fetch one by one. */
const deps = {
  optimizer: {
    ssr: { enabled: true, include: ["zod", "zod-openapi", "hono", "jose", "itty-router", "socket.io-parser"] },
  },
};

/**
 * What begins first, by how its path in test/ begins: what waits longest, the cores meanwhile, all together because their
 * files share processes; then what else takes long, so that nobody waits for one that began last.
 */
const FIRST = [
  "durable/relay.",
  "durable/webhooks.",
  "simulator/",
  "socketio/",
  "chat/",
  "client/",
  "settings/",
  "scripts/",
  "attacks-",
  "durable/crash.",
  "durable/recovery.",
  "durable/announce.",
  "durable/socketio/asks.",
  "outside/language-clients.",
  "outside/durability.",
  "outside/http-fuzz.",
  "outside/webhooks.",
  "outside/wakes.",
  "outside/browser-scroll.",
  "outside/sleep.",
  "outside/cost-agreement.",
  "outside/recovery.",
  "outside/load.",
  "outside/browser-accessible.",
  "outside/attacks.",
  "outside/client-module.",
  "outside/crash.",
  "outside/browser-states.",
  "outside/serve.",
];

class FirstThingsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const name = path.relative(path.join(import.meta.dirname, "test"), moduleId).replaceAll("\\", "/");
      const rank = FIRST.findIndex((beginning) => name.startsWith(beginning));
      return rank < 0 ? FIRST.length : rank;
    };
    return (await super.sort(files)).toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: FirstThingsFirst },
    projects: [
      {
        // Files of the cores share what they import: nothing in there is changed by whoever uses it.
        test: {
          name: "core",
          maxWorkers,
          include: ["test/**/*.test.ts"],
          exclude: ["test/{durable,worker,outside}/**"],
          isolate: false,
          testTimeout,
          setupFiles,
          expect,
        },
      },
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: "./wrangler.toml", environment: "development" },
            miniflare: { bindings: { JWT_SECRET: "a-secret-that-only-the-tests-know", LOG_LEVEL: "warn" } },
          }),
        ],
        test: {
          name: "object",
          deps,
          maxWorkers,
          include: ["test/{durable,worker}/**/*.test.ts"],
          exclude: ["test/durable/socketio/**"],
          testTimeout,
          setupFiles,
          expect,
        },
      },
      {
        plugins: [cloudflareTest({ wrangler: { configPath: "./test/durable/socketio/wrangler.toml" } })],
        test: {
          name: "socketio-object",
          deps,
          maxWorkers,
          include: ["test/durable/socketio/**/*.test.ts"],
          testTimeout,
          setupFiles,
          expect,
        },
      },
      {
        test: {
          name: "outside",
          maxWorkers,
          maxConcurrency,
          include: ["test/outside/**/*.test.ts"],
          globalSetup: "test/outside/server.setup.ts",
          setupFiles,
          expect,
          testTimeout: 2 * testTimeout,
          hookTimeout: 2 * testTimeout,
          // Real servers and browsers: when the cores are free of everything else.
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
