// Runs the tests in workerd, with real Durable Objects and their storage.
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [cloudflareTest({ wrangler: { configPath: "./wrangler.jsonc" } })],
  // Bundled once, because workerd would fetch each of some 100 modules by itself.
  test: { deps: { optimizer: { ssr: { enabled: true, include: ["parley-rooms/socketio"] } } } },
});
