// Three rings: the cores in plain Node, the objects in workerd, and the whole server from outside.
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

/** Most tests wait more than they work, so two files share the two cores that CI has. */
const maxWorkers = 2;

export default defineConfig({
  test: {
    projects: [
      {
        test: { name: "core", maxWorkers, include: ["test/core/**/*.test.ts"] },
      },
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: "./wrangler.toml", environment: "development" },
            miniflare: { bindings: { JWT_SECRET: "a-secret-that-only-the-tests-know" } },
          }),
        ],
        test: { name: "object", maxWorkers, include: ["test/object/**/*.test.ts"], testTimeout: 20_000 },
      },
      {
        plugins: [cloudflareTest({ wrangler: { configPath: "./test/third-party/wrangler.toml" } })],
        test: { name: "third-party", maxWorkers, include: ["test/third-party/**/*.test.ts"], testTimeout: 20_000 },
      },
      {
        test: {
          name: "outside",
          maxWorkers,
          include: ["test/outside/**/*.test.ts"],
          globalSetup: "test/outside/server.setup.ts",
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // Real servers and browsers: when the cores are free of everything else.
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
