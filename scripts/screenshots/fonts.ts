// Has the browser draw Inter where a page asks for the system's own font, and coloured emoji, so that screenshots look the same on any machine.
// screenshots.ts calls it.
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import type { Browser } from "playwright-core";

import { launchBrowser } from "../chromium.ts";

/** As fontconfig names them, which Chromium asks on Linux. */
const TEXT_FONT = "Inter";
const EMOJI_FONT = "Noto Color Emoji";
const PACKAGES = "fonts-inter fonts-noto-color-emoji";

const aliasOf = (family: string, font: string): string =>
  `<match><test name="family"><string>${family}</string></test>` +
  `<edit name="family" mode="prepend" binding="strong"><string>${font}</string></edit></match>`;

const CONFIG = `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
<include ignore_missing="yes">/etc/fonts/fonts.conf</include>
${["system-ui", "sans-serif", "sans"].map((family) => aliasOf(family, TEXT_FONT)).join("\n")}
</fontconfig>`;

/** A browser with these fonts, as far as the machine has them. */
export async function launchWithFonts(): Promise<Browser> {
  const file = path.join(tmpdir(), `parley-screenshots-${process.pid}.fonts.conf`);
  writeFileSync(file, CONFIG);
  process.once("exit", () => rmSync(file, { force: true }));
  return launchBrowser({ FONTCONFIG_FILE: file });
}

/** @throws Error that names the packages, if the browser draws other fonts */
export async function assertFonts(browser: Browser): Promise<void> {
  const page = await browser.newPage();
  await page.setContent('<p style="font-family: system-ui">Parley 🎉</p>');
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("DOM.enable");
  await devtools.send("CSS.enable");
  const { root } = await devtools.send("DOM.getDocument");
  const { nodeId } = await devtools.send("DOM.querySelector", { nodeId: root.nodeId, selector: "p" });
  const { fonts } = await devtools.send("CSS.getPlatformFontsForNode", { nodeId });
  await page.close();
  const drawn = fonts.map(({ familyName }) => familyName);
  const missing = [TEXT_FONT, EMOJI_FONT].filter((font) => !drawn.includes(font));
  if (missing.length === 0) return;
  throw new Error(
    `The pictures of the documents need ${missing.join(" and ")}, and the browser drew ${drawn.join(" and ")}. ` +
      `On Debian and Ubuntu: apt-get install ${PACKAGES}`,
  );
}
