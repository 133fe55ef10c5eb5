// Tests of objects run in workerd, simulations in Node.
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      {
        plugins: [cloudflareTest({ wrangler: { configPath: "./wrangler.toml" } })],
        test: {
          name: "workerd",
          include: ["notes.test.ts"],
          testTimeout: 120_000,
          // Bundled once, because workerd would fetch each module by itself.
          deps: { optimizer: { ssr: { enabled: true, include: ["parley-rooms/socketio", "parley-rooms/testing"] } } },
        },
      },
      { test: { name: "node", include: ["simulation.test.ts"], testTimeout: 600_000 } },
    ],
  },
});
