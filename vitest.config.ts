// Configures the three rings of tests: the cores in plain Node, the objects in workerd, the whole server from outside.
import path from "node:path";

import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

import { oneModule } from "./test/host/one-module.ts";
import { HANG_MS, PATIENCE_MS } from "./test/host/patience.ts";

/** Tests of objects wait more than they work. Each further worker loads all modules again. */
const maxWorkers = 2;

/** Most tests outside wait, for programs to start, for timeouts, for rooms that fall asleep. */
const maxWorkersOutside = 4;

/** Each worker starts a browser, which keeps a processor busy. */
const maxWorkersBrowser = 2;

/** Tests of one outside file that run side by side: each waits, for programs, rooms or pages. */
const maxConcurrency = 4;

const testTimeout = HANG_MS;
const hookTimeout = HANG_MS;
const setupFiles = ["test/host/patience.setup.ts"];
const expect = { poll: { timeout: PATIENCE_MS } };
/** Tests of objects: of the deployment, of applications without a chat, of a Worker that has chats in it. */
const OBJECTS = ["test/{durable,worker}/*.test.ts"];
const SOCKETIO = ["test/durable/socketio/*.test.ts"];
const MOUNTED = ["test/durable/mounted/*.test.ts"];
const SETTINGS_AGAIN = ["test/durable/settings-again.setup.ts"];
/** Tests that look at pages in a real browser. */
const BROWSER = ["test/outside/{browser-*,polling,race,react/*}.test.ts"];

/**
 * Files that start first, by the beginning of their path in test/: those that wait longest. The rest of a project follows
 * at once, because its files share processes. Two need a deployment that nobody has used yet: each begins a worker. The third counts the rows of
 * all rooms, of which there are few by then.
 */
const FIRST = [
  "worker/metrics.",
  "durable/lobby.",
  "durable/announce.",
  "durable/announce-direct.",
  "durable/watching.",
  "durable/recovery.",
  "durable/unread.",
  "durable/socketio/typing-race.",
  "simulator/planted-bugs.",
  "simulator/simulator.",
  "kit/simulate.",
  "outside/templates.",
  "outside/language-clients.",
  "outside/browser-notifications.",
  "outside/react/parts.",
  "outside/own-application.",
  "outside/browser-history.",
  "outside/durability.",
  "outside/engine",
  "outside/browser-rooms.",
  "outside/wakes.",
  "outside/key-outage.",
  "outside/webhooks.",
  "outside/sleep.",
  "outside/deleted-text.",
  "outside/package.",
  "outside/http-fuzz.",
  "outside/crash.",
  "outside/load.",
  "outside/attacks.",
  "outside/race.",
  "outside/releases-",
  "outside/npm-commands.",
  "outside/client-module.",
  "outside/browser-states.",
  "outside/browser-messages.",
  "outside/closed-tcp.",
  "outside/serve.",
  "outside/browser-accessible.",
  "outside/browser-files.",
  "outside/browser-xss.",
  "outside/browser-offline.",
];

/** The order of the projects; vitest ends a shared process when a file of another project comes next. */
const PROJECTS = ["object", "socketio-object", "mounted-object", "core", "outside", "browser"];

class FirstThingsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const name = path.relative(path.join(import.meta.dirname, "test"), moduleId).replaceAll("\\", "/");
      const rank = FIRST.findIndex((beginning) => name.startsWith(beginning));
      return rank < 0 ? FIRST.length : rank;
    };
    const projectOf = ({ project }: TestSpecification): number => PROJECTS.indexOf(project.name);
    return (await super.sort(files)).toSorted(
      (one, other) => projectOf(one) - projectOf(other) || rankOf(one) - rankOf(other),
    );
  }
}

/** In place of the date in each configuration: `npm test -- --workerd newest` sets it. */
const { COMPATIBILITY_DATE: compatibilityDate } = process.env;
const dated = compatibilityDate === undefined ? {} : { compatibilityDate };

const chatObjects = () =>
  cloudflareTest({
    wrangler: { configPath: "./wrangler.toml", environment: "development" },
    miniflare: {
      ...dated,
      bindings: {
        JWT_SECRET: "a-secret-that-only-the-tests-know",
        LOG_LEVEL: "warn",
        // A slow machine may stall between a handshake and its CONNECT; and no alarm for that is ever the next one.
        CONNECT_TIMEOUT_MS: "120000",
      },
    },
  });

/** Options of both projects that test the whole server. */
const wholeServer = {
  isolate: false,
  experimental: { viteModuleRunner: false },
  maxConcurrency,
  globalSetup: "test/outside/server.setup.ts",
  setupFiles: [...setupFiles, "test/outside/lines.setup.ts"],
  expect,
  testTimeout,
  hookTimeout,
};

export default defineConfig({
  test: {
    sequence: { sequencer: FirstThingsFirst },
    // An alarm of an object that wakes while vitest ends a finished workerd: no test has seen or can see it.
    onUnhandledError: ({ name }) => name !== "EnvironmentTeardownError",
    projects: [
      {
        // Files of the cores share what they import, because no test changes it. Node itself loads it: vite takes twice as long.
        test: {
          experimental: { viteModuleRunner: false },
          execArgv: ["--conditions=parley-source"],
          name: "core",
          include: ["test/**/*.test.ts"],
          exclude: ["test/{durable,worker,outside}/**"],
          isolate: false,
          testTimeout,
          hookTimeout,
          setupFiles: [...setupFiles, "test/host/yielding.setup.ts"],
          expect,
          // Vitest chooses the number of workers: one less than there are processors, because these tests never wait. A number of its own needs a
          // group of its own. `npm test` runs this project beside all others (run-tests.ts).
          sequence: { groupOrder: 1 },
        },
      },
      {
        plugins: [oneModule("src/index.ts", ...setupFiles, ...SETTINGS_AGAIN, ...OBJECTS), chatObjects()],
        test: {
          name: "object",
          maxWorkers,
          include: OBJECTS,
          isolate: false,
          testTimeout,
          hookTimeout,
          setupFiles: [...setupFiles, ...SETTINGS_AGAIN],
          expect,
        },
      },
      {
        plugins: [
          oneModule("test/durable/socketio/worker.ts", ...setupFiles, ...SOCKETIO),
          cloudflareTest({ wrangler: { configPath: "./test/durable/socketio/wrangler.toml" }, miniflare: dated }),
        ],
        test: {
          name: "socketio-object",
          // A second worker would load all modules again. A group of its own, as for core.
          maxWorkers: 1,
          sequence: { groupOrder: 3 },
          include: SOCKETIO,
          isolate: false,
          testTimeout,
          hookTimeout,
          setupFiles,
          expect,
        },
      },
      {
        plugins: [
          oneModule("docs/examples/kinds/index.ts", ...setupFiles, ...MOUNTED),
          cloudflareTest({ wrangler: { configPath: "./docs/examples/kinds/wrangler.toml" }, miniflare: dated }),
        ],
        test: {
          name: "mounted-object",
          // As above.
          maxWorkers: 1,
          sequence: { groupOrder: 3 },
          include: MOUNTED,
          isolate: false,
          testTimeout,
          hookTimeout,
          setupFiles,
          expect,
        },
      },
      {
        test: {
          ...wholeServer,
          name: "outside",
          maxWorkers: maxWorkersOutside,
          include: ["test/outside/**/*.test.ts"],
          exclude: BROWSER,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...wholeServer,
          name: "browser",
          maxWorkers: maxWorkersBrowser,
          include: BROWSER,
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
});
