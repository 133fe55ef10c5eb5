import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [
    cloudflareTest({
      wrangler: { configPath: "./wrangler.toml" },
      miniflare: { bindings: { SESSION_SECRET: "only for the tests" } },
    }),
  ],
  test: {
    // The first test waits until the Worker is loaded, which takes some seconds on a busy machine.
    testTimeout: 120_000,
    // Bundled once, because workerd would fetch each of some 200 modules by itself.
    deps: { optimizer: { ssr: { enabled: true, include: ["hono", "parley-rooms", "parley-rooms/testing"] } } },
  },
});
