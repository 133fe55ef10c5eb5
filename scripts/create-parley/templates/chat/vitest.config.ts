// Runs the tests in workerd, with real Durable Objects and their storage.
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [
    cloudflareTest({
      wrangler: { configPath: "./wrangler.jsonc" },
      miniflare: { bindings: { ENVIRONMENT: "development", GUEST_ACCESS: "on", JWT_SECRET: "only for the tests" } },
    }),
  ],
  // Bundled once, because workerd would fetch each of some 200 modules by itself.
  test: { deps: { optimizer: { ssr: { enabled: true, include: ["parley-rooms"] } } } },
});
