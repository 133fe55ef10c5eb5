import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [
    cloudflareTest({
      wrangler: { configPath: "./wrangler.toml" },
      miniflare: { bindings: { SESSION_SECRET: "only for the tests" } },
    }),
  ],
  // Bundled once, because workerd would fetch each of some 200 modules by itself.
  test: { deps: { optimizer: { ssr: { enabled: true, include: ["hono", "parley-rooms", "parley-rooms/testing"] } } } },
});
