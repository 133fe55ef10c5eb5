// Builds the browser side into dist/client/, which the Worker serves as static assets.
// Run by `npm run build`, and called by the scripts that start, test and deploy.
import { copyFile, mkdir } from "node:fs/promises";
import path from "node:path";

import { build } from "esbuild";

const projectRoot = path.join(import.meta.dirname, "..");
const source = path.join(projectRoot, "client");
const target = path.join(projectRoot, "dist", "client");

const ENTRIES = ["client.ts", "page.ts"];
const COPIED = ["index.html", "page.css", "favicon.svg", "_headers"];

export async function buildClient(): Promise<void> {
  await mkdir(target, { recursive: true });
  await Promise.all([bundle(), ...COPIED.map((name) => copyFile(path.join(source, name), path.join(target, name)))]);
}

async function bundle(): Promise<void> {
  await build({
    entryPoints: ENTRIES.map((name) => path.join(source, name)),
    outdir: target,
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    legalComments: "none",
    logLevel: "warning",
  });
}

if (import.meta.main) await buildClient();
