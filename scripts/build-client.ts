// Builds the browser side into dist/client/, which the Worker serves as static assets. `npm run build` runs it and prints the
// size of client.js with `-- --size`; the tests call it.
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";

import { build, type BuildOptions, type Plugin } from "esbuild";

import { clientTypes } from "./client-types.ts";
import { helpOf } from "./help.ts";
import { readOptions } from "./options.ts";

const projectRoot = path.join(import.meta.dirname, "..");
const source = path.join(projectRoot, "client");
const target = path.join(projectRoot, "dist", "client");

const CLIENT = "core/client.ts";
const PAGE = "page/page.tsx";
const OTHERS = ["page/page.css", "page/page-later.css", "page/theme.js", "admin/admin.tsx", "admin/admin.css"];
const EMBED = "embed/embed.tsx";
const EMBED_STYLES = "embed/embed.css";
const PAGES = ["page/index.html", "admin/admin.html"];
const COPIED = ["favicon.svg", "_headers"];
/** Scripts and styles of the pages: their names have a hash of what is in them, so browsers never ask for them again (client/_headers). */
const HASHED = { entryNames: "assets/[name]-[hash]", chunkNames: "assets/page-[name]-[hash]" };
/** In a page: the file that it loads. */
const LOADED = /(?<=(?:href|src)=")[\w/-]+\.(?:js|css|svg)(?=")/g;

/** Parts of the stock client that a bundle does not need as they are, and their replacements. */
function leavingOut(parts: Readonly<Record<string, string>>): Plugin {
  const nameOf = (file: string): string => path.basename(file, ".js");
  return {
    name: "leaving-out",
    setup: (building) =>
      building.onLoad(
        { filter: /[/\\](engine|socket)\.io-(client|parser)[/\\]build[/\\]esm[/\\]/ },
        ({ path: file }) => {
          const contents = parts[nameOf(file)];
          return contents === undefined ? undefined : { contents, resolveDir: path.dirname(file) };
        },
      ),
  };
}

/** The transports are classes of our own (client/core/extended-transports.ts), so this lookup by name is unused. */
const UNNAMED = { webtransport: "export class WT {}" };
/** Needed in Node only, where `client.js` runs, too. */
const ELSEWHERE = { "polling-fetch": 'export { XHR as Fetch } from "./polling-xhr.js"' };

/** The pages connect to an origin, with the name of a namespace at most: browsers parse and encode that, and base64, by themselves. */
const BY_THE_BROWSER = {
  parseuri: `export function parse(source) {
    const { protocol, hostname, port, pathname: path } = new URL(source);
    return { source, protocol: protocol.slice(0, -1), host: hostname.replace(/[[\\]]/g, ""), port, path };
  }`,
  url: `import { parse } from "engine.io-client";
  export function url(source, path) {
    const place = parse(source);
    return { ...place, id: source + path };
  }`,
  parseqs: `export const encode = (query) => String(new URLSearchParams(query));
  export const decode = (text) => Object.fromEntries(new URLSearchParams(text));`,
  "base64-arraybuffer": `export const decode = (text) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0)).buffer;`,
  "has-cors": "export const hasCORS = true;",
  globals: `export const nextTick = (run) => void Promise.resolve().then(run);
  export const [globalThisShim, defaultBinaryType] = [globalThis, "arraybuffer"];
  export const createCookieJar = () => {};`,
  util: `export const pick = (from, ...names) =>
    Object.fromEntries(names.filter((name) => Object.hasOwn(from, name)).map((name) => [name, from[name]]));
  export function installTimerFunctions(on) {
    on.setTimeoutFn = setTimeout.bind(globalThis);
    on.clearTimeoutFn = clearTimeout.bind(globalThis);
  }
  export const byteLength = (data) => (typeof data === "string" ? new Blob([data]).size : Math.ceil((data.byteLength || data.size) * 1.33));
  export const randomString = () => Date.now().toString(36) + Math.random().toString(36).slice(2, 5);`,
};

/** Rooms reconnect by client/core/reconnection.ts; the operator page lets the stock client do it. */
const NO_RECONNECTING = {
  backo2: "export class Backoff { attempts = 0; setMin() {} setMax() {} setJitter() {} reset() {} }",
};

const OPTIONS = {
  bundle: true,
  minify: true,
  format: "esm",
  platform: "browser",
  conditions: ["parley-source", "module"],
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  plugins: [leavingOut(UNNAMED)],
  logLevel: "warning",
  write: false,
} satisfies BuildOptions & { write: false };

/** Only the page uses sockets there, so the stock client's private properties get short names. */
const IN_BROWSERS = {
  ...OPTIONS,
  plugins: [leavingOut({ ...UNNAMED, ...ELSEWHERE, ...BY_THE_BROWSER })],
  mangleProps: /^_[a-z]{2,}/i,
  mangleQuoted: true,
  // It travels.
  reserveProps: /^_placeholder$/,
};

const ROOMS_IN_BROWSERS = {
  ...IN_BROWSERS,
  plugins: [leavingOut({ ...UNNAMED, ...ELSEWHERE, ...BY_THE_BROWSER, ...NO_RECONNECTING })],
};

/** The lazy parts of the page are a file of their own, and the code that they share with the first part another one. */
const PARTED = { ...ROOMS_IN_BROWSERS, ...HASHED, splitting: true };

export async function buildClient(): Promise<void> {
  await mkdir(path.join(target, "assets"), { recursive: true });
  await Promise.all([
    bundle({ ...OPTIONS, entryPoints: [path.join(source, CLIENT)], outdir: target }),
    buildPages(),
    buildEmbed(),
    clientTypes().then((types) => put("client.d.ts", types)),
    ...COPIED.map(async (name) => put(name, await readFile(path.join(source, name)))),
  ]);
  const files = await readdir(target, { recursive: true, withFileTypes: true });
  const names = files.filter((file) => file.isFile()).map((file) => path.join(file.parentPath, file.name));
  await Promise.all(names.filter((name) => !written.has(name)).map((name) => rm(name, { force: true })));
}

async function buildPages(): Promise<void> {
  const others = await bundle({ ...IN_BROWSERS, ...HASHED, entryPoints: OTHERS.map(entryOf), outdir: target });
  const define = { PAGE_LATER_CSS: JSON.stringify(others.get("page-later.css")) };
  const page = await bundle({ ...PARTED, entryPoints: [path.join(source, PAGE)], define, outdir: target });
  const hashed = new Map([...others, ...page]);
  for (const name of PAGES) {
    const html = await readFile(path.join(source, name), "utf8");
    await put(
      path.basename(name),
      html.replaceAll(LOADED, (file) => hashed.get(file) ?? file),
    );
  }
}

const entryOf = (name: string): { in: string; out: string } => ({
  in: path.join(source, name),
  out: path.parse(name).name,
});

/** @returns the files that it wrote, by their names without a hash */
async function bundle(options: BuildOptions & { write: false }): Promise<Map<string, string>> {
  const { outputFiles } = await build(options);
  const files = outputFiles.map(({ path: file, contents }) => ({ name: path.relative(target, file), contents }));
  await Promise.all(files.map(({ name, contents }) => put(name, contents)));
  return new Map(files.map(({ name }) => [path.basename(name).replace(/-[A-Z0-9]{8}(?=\.\w+$)/, ""), name]));
}

/** All files of this build: others in the folder are of earlier ones. */
const written = new Set<string>();

/** Servers of other builds may be serving it just now: a file is whole at any moment, and untouched where nothing changes. */
async function put(name: string, contents: Uint8Array | string): Promise<void> {
  const bytes = Buffer.from(contents);
  const file = path.join(target, name);
  written.add(file);
  const before = await readFile(file).catch(() => undefined);
  if (before?.equals(bytes)) return;
  const fresh = path.join(path.dirname(target), `${path.basename(name)}.${process.pid}`);
  await writeFile(fresh, bytes);
  await rename(fresh, file);
}

/** One file: the style sheet of its shadow root is in it. */
async function buildEmbed(): Promise<void> {
  const styles = await build({ ...OPTIONS, entryPoints: [path.join(source, EMBED_STYLES)] });
  const define = { EMBED_CSS: JSON.stringify(styles.outputFiles[0]!.text) };
  await bundle({ ...ROOMS_IN_BROWSERS, entryPoints: [path.join(source, EMBED)], define, outdir: target });
}

/** Compressed sizes in bytes: all of client.js, and its part that is not socket.io-client. */
export async function measureClient(): Promise<{ whole: number; own: number }> {
  const entryPoints = [path.join(source, CLIENT)];
  const { outputFiles } = await build({ ...OPTIONS, entryPoints, external: ["socket.io-client"] });
  return {
    whole: gzipSync(await readFile(path.join(target, "client.js"))).length,
    own: gzipSync(outputFiles[0]!.contents).length,
  };
}

/** Compressed, in bytes: all that a first visit loads. */
export async function measureFirstLoad(): Promise<number> {
  const page = await readFile(path.join(target, "index.html"), "utf8");
  const names = ["index.html", ...page.match(LOADED)!];
  const files = await Promise.all(names.map((name) => readFile(path.join(target, name))));
  return files.reduce((sum, file) => sum + gzipSync(file).length, 0);
}

if (import.meta.main) {
  const { values } = readOptions(helpOf("build"), { options: { size: { type: "boolean", default: false } } });
  await buildClient();
  if (values.size) {
    const { whole, own } = await measureClient();
    console.log(`client.js: ${whole} bytes gzip, ${own} without socket.io-client`);
    console.log(`The page: ${await measureFirstLoad()} bytes gzip`);
  }
}
