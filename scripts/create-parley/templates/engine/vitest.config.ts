// Runs the tests in workerd, with real Durable Objects.
import { builtinModules } from "node:module";

import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [cloudflareTest({ wrangler: { configPath: "./wrangler.jsonc" } })],
  test: {
    // The first test waits until the Worker is loaded, which takes some seconds on a busy machine.
    testTimeout: 120_000,
    deps: {
      optimizer: {
        ssr: {
          // Bundled once: socket.io's modules of two kinds find each other no other way. The runtime has those of Node.
          enabled: true,
          include: ["socket.io", "parley-rooms/engine", "parley-rooms/testing"],
          rolldownOptions: { external: [...builtinModules, /^node:/] },
        },
      },
    },
  },
});
