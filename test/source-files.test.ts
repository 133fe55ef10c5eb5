// Holds the rules of source files that neither compiler nor lint knows: their length, their comments, the purity of the cores.
import { globSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

import { ROOT, sourcesIn, textOf } from "./host/repository.ts";

const LINES_MAX = 600;
/** Lists of texts, as long as the page has texts. */
const CATALOGUES = "client/page/languages/";
/** The types that the build makes of the client; headers may name it. */
const MADE_BY_BUILD = "client.d.ts";

/** A line of a comment that ends early, though the sentence and its next word go on in the next one. */
function isLeftAlone(line: string, next: string): boolean {
  const begun = /^\s*(?:\/\/|\*|\/\*\*) (?!@| ).*[^.:/]$/.exec(line);
  const [, word] = /^\s*(?:\/\/|\*) ([a-z(][^ ]*)/.exec(next) ?? [];
  return begun !== null && word !== undefined && !word.startsWith("oxlint") && line.length + 1 + word.length <= 78;
}

describe("source files", () => {
  const files = ["src", "durable", "client", "docs/examples", "scripts", "test"].flatMap(sourcesIn);

  it(`stay below ${LINES_MAX} lines`, () => {
    const long = files
      .filter((file) => !file.startsWith(CATALOGUES))
      .map((file) => [file, textOf(file).split("\n").length] as const);
    expect(long.filter(([, lines]) => lines >= LINES_MAX)).toEqual([]);
    expect(files.length).toBeGreaterThan(30);
  });

  it("open with a comment", () => {
    const bare = sourcesIn("src").filter(
      (file) => textOf(file).split("\n").length > 5 && !textOf(file).startsWith("//"),
    );
    expect(bare).toEqual([]);
  });

  it("have comments whose lines are filled: no word is left alone by an earlier form", () => {
    const left = files.flatMap((file) => {
      const lines = textOf(file).split("\n");
      return lines.flatMap((line, i) => (isLeftAlone(line, lines[i + 1] ?? "") ? [`${file}:${i + 1}`] : []));
    });
    expect(left).toEqual([]);
  });

  it("name files in their headers that exist", () => {
    const paths = readdirSync(ROOT, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith(".") && entry.name !== "node_modules")
      .flatMap(({ name }) => sourcesIn(name));
    const headed = ["src", "durable", "client"].flatMap(sourcesIn);
    const stale = headed.flatMap((file) => {
      const [header] = /^(?:\/\/.*\n)*/.exec(textOf(file))!;
      const names = [...header.matchAll(/(?<![\w./-])[\w./-]+\.tsx?\b/g)].map(([name]) =>
        name.replace(/^(\.+\/)+/, ""),
      );
      return names
        .filter((name) => name !== MADE_BY_BUILD && !paths.some((path) => `/${path}`.endsWith(`/${name}`)))
        .map((name) => `${file}: ${name}`);
    });
    expect(stale).toEqual([]);
  });

  it("are imported by the files that make them, as their headers say", () => {
    const sources = ["src", "durable", "client", "scripts"].flatMap(sourcesIn);
    const importsOf = (file: string): string[] =>
      [...textOf(file).matchAll(/"(\.[^"]+)"/g)].map(([, to]) => join(dirname(file), to!));
    const made = sources.flatMap((file) => {
      const [header] = /^(?:\/\/.*\n)*/.exec(textOf(file))!;
      const words = header.replaceAll(/\n\/\/ */g, " ");
      return [...words.matchAll(/\b[Mm]ade (?:by|in) ([\w./-]+\.tsx?)\b/g)].map(([, maker]) => ({
        file,
        maker: maker!,
      }));
    });
    expect(made.length).toBeGreaterThan(30);
    const wrong = made.filter(
      ({ file, maker }) => !sources.some((one) => `/${one}`.endsWith(`/${maker}`) && importsOf(one).includes(file)),
    );
    expect(wrong).toEqual([]);
  });

  it("of the tests replace no method that the language has, but in a thread: V8 would be slower for all files that run later", () => {
    const replaced =
      /(?:\b(?:spyOn|assign|defineProperty)\(|^ *)(?:Array|Map|Object|Promise|RegExp|Set|String)\.prototype\b/m;
    expect(sourcesIn("test").filter((file) => replaced.test(textOf(file)))).toEqual([join("test", "host", "steps.ts")]);
  });

  it("of tests that run side by side wait by `vi.waitFor`: `expect.poll` may take another test for its own, or find none", () => {
    const polls = (text: string): boolean =>
      /\.concurrent\b|concurrent: true/.test(text) && /\bexpect\.poll\(/.test(text);
    expect(sourcesIn("test").filter((file) => polls(textOf(file)))).toEqual([]);
  });

  it("of tests of objects lie where a project finds them", () => {
    const patterns = Array.from(
      textOf("vitest.config.ts").matchAll(/ = \["(test\/.+\.test\.ts)"\];/g),
      ([, one]) => one!,
    );
    const found = new Set(globSync(patterns, { cwd: ROOT }));
    const tests = ["durable", "worker"].flatMap((folder) => sourcesIn(join("test", folder)));
    expect(tests.filter((file) => file.endsWith(".test.ts") && !found.has(file))).toEqual([]);
  });

  it("of tests in a browser belong to the project that has few browsers", () => {
    const [, pattern] = /^const BROWSER = \["([^"]+)"\];$/m.exec(textOf("vitest.config.ts"))!;
    const inBrowser = sourcesIn(join("test", "outside")).filter((file) => /\buseBrowser\(\)/.test(textOf(file)));
    expect(inBrowser.filter((file) => file.endsWith(".test.ts"))).toEqual(globSync(pattern!, { cwd: ROOT }).toSorted());
  });

  const CORES = ["clock", "storage", "protocol", "metrics", "socketio", "chat", "relay", "features"].map((name) =>
    join("src", name),
  );

  /** The shell of objects is no core, nor are those files of a feature that may use the platform (src/features/tsconfig.worker.json). */
  const isShell = (file: string): boolean =>
    file.startsWith(join("src", "socketio", "object")) ||
    /^src\/features\/[^/]+\/(?:index|http.*|consumer.*|sql-.*|object)\.ts$/.test(file);

  it("of the cores are compiled without a platform: timers, crypto and console are errors there", () => {
    const configs = CORES.flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith("tsconfig.json"))
        .map((file) => join(folder, file))
        .filter((file) => !isShell(file)),
    );
    expect(configs.length).toBeGreaterThanOrEqual(CORES.length);
    for (const config of configs) {
      const { compilerOptions } = JSON.parse(textOf(config)) as { compilerOptions: object };
      expect(compilerOptions, config).toMatchObject({ lib: ["ES2024"], types: [] });
    }
  });

  it("of the cores read neither clock nor randomness, which the language itself has", () => {
    const impure = /\b(Date\.now|new Date\(|Math\.random)/;
    const cores = CORES.flatMap(sourcesIn).filter((file) => !isShell(file));
    expect(cores.filter((file) => impure.test(textOf(file)))).toEqual([]);
  });

  it("of the client's cores know no clock, no timer, no randomness and no platform", () => {
    const impure = /\b(Date\.now|new Date\(|setTimeout|setInterval|Math\.random|crypto\.|console\.)/;
    const names = ["backoff", "frames", "heartbeat", "posted-lookup", "ordered-messages", "outbox", "reconnection"];
    const cores = names.map((name) => `client/core/${name}.ts`);
    expect(cores.filter((file) => impure.test(textOf(file)))).toEqual([]);
  });
});
