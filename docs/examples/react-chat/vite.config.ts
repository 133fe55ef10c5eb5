// Serves the app, and passes the chat's addresses on to a chat server: so the app has them at its own origin, as it has where one Worker
// serves both.
import react from "@vitejs/plugin-react";
import { defineConfig, loadEnv } from "vite";

export default defineConfig(({ mode }) => {
  const { PARLEY_URL = "http://127.0.0.1:8787" } = loadEnv(mode, ".", "PARLEY_");
  return {
    plugins: [react()],
    server: { proxy: { "^/(api|files|rooms)/": { target: PARLEY_URL, ws: true } } },
  };
});
