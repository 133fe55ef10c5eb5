// Builds the browser side into dist/client/, which the Worker serves as static assets. `npm run build` runs it and prints the
// size of client.js with `-- --size`; the tests call it.
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";

import { build, type BuildOptions, type Plugin } from "esbuild";

import { isBuilt, noteBuilt, PAGE_SOURCES } from "./built-page.ts";
import { clientTypes } from "./client-types.ts";
import { emojiData } from "./emoji-data.ts";
import { digestOf } from "./kept-text.ts";
import { helpOf, readOptions } from "./options.ts";

const projectRoot = path.join(import.meta.dirname, "..");
const source = path.join(projectRoot, "client");
const target = path.join(projectRoot, "dist", "client");

const CLIENT = "core/client.ts";
/** Scripts and styles of the pages: their names get a hash of what is in them, so browsers never ask for them again (client/_headers). */
const OF_PAGES = ["page/page.css", "page/theme.js", "admin/admin.tsx", "admin/admin.css"];
/** Parts of it are scripts of their own, which the browser loads when the reader opens them. */
const CHAT_PAGE = "page/page.tsx";
const APP = "page/components/app.tsx";
/** What the pages and the embed load when a reader first needs it, by the name in their code that stands for its address. */
const LATER: Readonly<Record<string, string>> = {
  EMOJI_MODULE: "page/state/emoji-data.ts",
  COLOURS_MODULE: "page/state/coloured-code.ts",
  GERMAN_MODULE: "page/languages/de.ts",
  SPANISH_MODULE: "page/languages/es.ts",
  JAPANESE_MODULE: "page/languages/ja.ts",
  ARABIC_MODULE: "page/languages/ar.ts",
};
const EMBED = "embed/embed.tsx";
const EMBED_STYLES = "embed/embed.css";
const CHAT_DOCUMENT = "page/index.html";
const PAGES = [CHAT_DOCUMENT, "admin/admin.html"];
const COPIED = ["favicon.svg", "_headers", "manifest.webmanifest", "icon-192.png", "icon-512.png", "icon-maskable.png"];
/** Keeps the files of the chat page for a browser without a network. */
const SERVICE_WORKER = "page/service-worker.js";
/** In a page: the file that it loads. */
const LOADED = /(?<=(?:href|src)=")[\w/-]+\.(?:js|css|svg)(?=")/g;

const HASHED = "assets/[name]-[hash]";

const OPTIONS = {
  bundle: true,
  minify: true,
  format: "esm",
  platform: "browser",
  conditions: ["parley-source", "module"],
  target: "es2022",
  charset: "utf8",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  logLevel: "warning",
  write: false,
  outdir: target,
} satisfies BuildOptions & { write: false };

/** Does nothing where the page is there, made of the same sources. */
export async function buildClient(): Promise<void> {
  const sources = digestOf(PAGE_SOURCES);
  if (isBuilt(sources)) return;
  await bundleAll();
  // Somebody may have written a source meanwhile.
  if (digestOf(PAGE_SOURCES) === sources) noteBuilt(sources);
}

async function bundleAll(): Promise<void> {
  await mkdir(path.join(target, "assets"), { recursive: true });
  await Promise.all([
    bundle({ ...OPTIONS, entryPoints: [path.join(source, CLIENT)] }),
    buildLater().then((later) => Promise.all([buildPages(later), buildEmbed(later)])),
    clientTypes().then((types) => put("client.d.ts", types)),
    ...COPIED.map(async (name) => put(name, await readFile(path.join(source, name)))),
  ]);
  const files = await readdir(target, { recursive: true, withFileTypes: true });
  const names = files.filter((file) => file.isFile()).map((file) => path.join(file.parentPath, file.name));
  await Promise.all(names.filter((name) => !written.has(name)).map((name) => rm(name, { force: true })));
}

async function buildLater(): Promise<Bundled["hashed"]> {
  const define = { EMOJI_DATA: JSON.stringify(emojiData()) };
  const entryPoints = Object.values(LATER).map(entryOf);
  return (await bundle({ ...OPTIONS, entryNames: HASHED, entryPoints, define })).hashed;
}

/** @param folder that of the file which loads it */
function loading(later: Bundled["hashed"], folder: string) {
  const addressOf = (file: string): string =>
    `./${path.posix.relative(folder, later.get(`${path.parse(file).name}.js`)!)}`;
  const addresses = Object.entries(LATER).map(([name, file]) => [name, addressOf(file)] as const);
  return {
    external: addresses.map(([, address]) => address),
    define: Object.fromEntries(addresses.map(([name, address]) => [name, JSON.stringify(address)])),
  };
}

async function buildPages(later: Bundled["hashed"]): Promise<void> {
  const options = { ...OPTIONS, entryNames: HASHED, chunkNames: HASHED, ...loading(later, "assets") };
  const chat = await bundle({
    ...options,
    entryPoints: [entryOf(CHAT_PAGE)],
    splitting: true,
    plugins: [ONE_SCRIPT, NO_WEBTRANSPORT],
  });
  const others = await bundle({ ...options, entryPoints: OF_PAGES.map(entryOf) });
  const hashed = new Map([...chat.hashed, ...others.hashed]);
  // What it shares with its later parts is a script, too, of which the browser would hear only from the script that needs it.
  const preload = chat.shared.map((file) => `<link rel="modulepreload" href="${file}" />\n    `).join("");
  for (const name of PAGES) {
    const html = await readFile(path.join(source, name), "utf8");
    const loading = html.replace('<script type="module" src="page.js">', (script) => preload + script);
    const page = loading.replaceAll(LOADED, (file) => hashed.get(file) ?? file);
    await put(path.basename(name), page);
    if (name === CHAT_DOCUMENT) await buildServiceWorker(page, chat.files);
  }
}

/** @param scripts those of the page, and of its parts on demand */
async function buildServiceWorker(page: string, scripts: readonly string[]): Promise<void> {
  const files = [...new Set([...scripts, ...page.match(LOADED)!])].sort();
  const digest = createHash("sha256").update(page);
  for (const file of files) digest.update(await readFile(path.join(file === "favicon.svg" ? source : target, file)));
  const define = {
    PAGE_FILES: JSON.stringify(["./", ...files]),
    PAGE_PARTS: JSON.stringify(files.filter((file) => !page.includes(file))),
    PAGE_VERSION: JSON.stringify(digest.digest("hex").slice(0, 16)),
  };
  await bundle({ ...OPTIONS, entryPoints: [entryOf(SERVICE_WORKER)], define });
}

/**
 * Makes each part on demand need the whole app: otherwise esbuild puts what every two of them share into a script of its own, and
 * small scripts compress badly.
 */
const ONE_SCRIPT: Plugin = {
  name: "one-script",
  setup(build) {
    const parts = new Set<string>();
    build.onResolve({ filter: /./ }, ({ kind, path: name, resolveDir }) => {
      if (kind === "dynamic-import") parts.add(path.resolve(resolveDir, name));
      return undefined;
    });
    build.onLoad({ filter: /\.tsx?$/ }, async ({ path: file }) => {
      if (!parts.has(file)) return undefined;
      const contents = `${await readFile(file, "utf8")}\nexport * from ${JSON.stringify(path.join(source, APP))};`;
      return { contents, loader: "tsx" };
    });
  },
};

/** Leaves out of the page a transport of engine.io-client that it never asks for: it has WebSockets and long-polling (client/core/connection.ts). */
const NO_WEBTRANSPORT: Plugin = {
  name: "no-webtransport",
  setup(build) {
    build.onLoad({ filter: /engine\.io-client.*[\\/]webtransport\.js$/ }, () => ({ contents: "export class WT {}" }));
  },
};

const entryOf = (name: string): { in: string; out: string } => ({
  in: path.join(source, name),
  out: path.parse(name).name,
});

const fileOf = (entry: string | { in: string }): string => path.resolve(typeof entry === "string" ? entry : entry.in);

interface Bundled {
  /** The files, by their names without a hash. */
  readonly hashed: ReadonlyMap<string, string>;
  /** Scripts that the entries load at once; not those that parts on demand load. */
  readonly shared: readonly string[];
  /** All of them: several scripts that parts share have one name. */
  readonly files: readonly string[];
}

async function bundle(options: BuildOptions & { write: false }): Promise<Bundled> {
  const { outputFiles, metafile } = await build({ ...options, metafile: true });
  const given = new Set((options.entryPoints as ReadonlyArray<string | { in: string }>).map(fileOf));
  const entries = Object.values(metafile.outputs).filter(
    ({ entryPoint }) => entryPoint !== undefined && given.has(path.resolve(entryPoint)),
  );
  const loaded = entries.flatMap(({ imports }) => imports.filter(({ kind }) => kind === "import-statement"));
  const shared = [...new Set(loaded.map((file) => path.relative(target, path.resolve(file.path))))];
  const files = outputFiles.map(({ path: file, contents }) => ({ name: path.relative(target, file), contents }));
  await Promise.all(files.map(({ name, contents }) => put(name, contents)));
  const hashed = new Map(files.map(({ name }) => [path.basename(name).replace(/-[A-Z0-9]{8}(?=\.\w+$)/, ""), name]));
  return { hashed, shared, files: files.map(({ name }) => name) };
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
async function buildEmbed(later: Bundled["hashed"]): Promise<void> {
  const styles = await build({ ...OPTIONS, entryPoints: [path.join(source, EMBED_STYLES)] });
  const { external, define } = loading(later, ".");
  const defined = { ...define, EMBED_CSS: JSON.stringify(styles.outputFiles[0]!.text) };
  await bundle({ ...OPTIONS, entryPoints: [path.join(source, EMBED)], external, define: defined });
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
