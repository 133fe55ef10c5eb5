// A real Chromium: the machine's own where there is one, otherwise the one from npm.
import { existsSync } from "node:fs";

import packaged from "@sparticuz/chromium";
import { chromium as playwright, type Browser } from "playwright-core";

const SYSTEM_CHROMES = [
  process.env["CHROME_PATH"],
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** @param env variables besides those of this process */
export async function launchBrowser(env: Readonly<Record<string, string>> = {}): Promise<Browser> {
  const system = SYSTEM_CHROMES.find((file) => file !== undefined && existsSync(file));
  // The package's own arguments are for a cloud function: one process for everything, and no web security.
  const executablePath = system ?? (await packaged.executablePath());
  const args = ["--no-sandbox", "--disable-gpu"];
  return playwright.launch({ executablePath, args, env: { ...process.env, ...env } });
}
