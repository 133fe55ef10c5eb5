import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [
    cloudflareTest({
      wrangler: { configPath: "./mounted/wrangler.toml" },
      miniflare: { bindings: { SESSION_SECRET: "only for the tests" } },
    }),
  ],
});
