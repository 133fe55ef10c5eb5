// Runs the tests in workerd, with real Durable Objects and their storage.
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [cloudflareTest({ wrangler: { configPath: "./wrangler.jsonc" } })],
  test: {
    // The first test waits until the Worker is loaded, which takes some seconds on a busy machine.
    testTimeout: 120_000,
    // Bundled once, because workerd would fetch each module by itself.
    deps: { optimizer: { ssr: { enabled: true, include: ["parley-rooms/socketio", "parley-rooms/testing"] } } },
  },
});
