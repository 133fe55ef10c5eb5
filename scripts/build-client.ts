// Builds the browser side into dist/client/, which the Worker serves as static assets.
// Run by `npm run build`, which tells the size of client.js with `-- --size`, and called by the tests.
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";

import { build, type BuildOptions } from "esbuild";

const projectRoot = path.join(import.meta.dirname, "..");
const source = path.join(projectRoot, "client");
const target = path.join(projectRoot, "dist", "client");

const ENTRIES = ["client.ts", "page.ts"];
const COPIED = ["index.html", "page.css", "favicon.svg", "_headers"];

/** Where the vocabulary of rooms stands: every `*-events.ts` in it goes into client.d.ts, above the client's own types. */
const protocol = path.join(projectRoot, "src", "protocol");
const CONNECT_ROOM = `/** @param origin the server's, such as \`https://chat.example\` */
export declare function connectRoom(origin: string, room: string, options: ConnectOptions): Room;
`;

const OPTIONS = {
  bundle: true,
  minify: true,
  format: "esm",
  platform: "browser",
  target: "es2022",
  legalComments: "none",
  logLevel: "warning",
} satisfies BuildOptions;

export async function buildClient(): Promise<void> {
  await mkdir(target, { recursive: true });
  await Promise.all([
    build({ ...OPTIONS, entryPoints: ENTRIES.map((name) => path.join(source, name)), outdir: target }),
    writeTypes(),
    ...COPIED.map((name) => copyFile(path.join(source, name), path.join(target, name))),
  ]);
}

/** Types only, in one file, so that whoever copies client.js needs to copy but one more. */
async function writeTypes(): Promise<void> {
  const vocabulary = (await readdir(protocol)).filter((name) => name.endsWith("-events.ts")).sort();
  const files = [...vocabulary.map((name) => path.join(protocol, name)), path.join(source, "api.ts")];
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  const declarations = texts.map((text) => text.replaceAll(/^import type [^;]*;\n/gm, ""));
  await writeFile(path.join(target, "client.d.ts"), [...declarations, CONNECT_ROOM].join("\n"));
}

/** Compressed, in bytes: all of client.js, and what of it is not socket.io-client. */
export async function measureClient(): Promise<{ whole: number; own: number }> {
  const entryPoints = [path.join(source, "client.ts")];
  const { outputFiles } = await build({ ...OPTIONS, entryPoints, write: false, external: ["socket.io-client"] });
  return {
    whole: gzipSync(await readFile(path.join(target, "client.js"))).length,
    own: gzipSync(outputFiles[0]!.contents).length,
  };
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { size: { type: "boolean", default: false } } });
  await buildClient();
  if (values.size) {
    const { whole, own } = await measureClient();
    console.log(`client.js: ${whole} bytes gzip, ${own} without socket.io-client`);
  }
}
