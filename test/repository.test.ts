// Holds the rules of the repository that the compiler does not.
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join, matchesGlob, relative } from "node:path";
import { describe, expect, it } from "vitest";

import { ROOT, sourcesIn, textOf } from "./host/repository.ts";

describe("package.json", () => {
  type Manifest = Readonly<Record<"dependencies" | "devDependencies", Readonly<Record<string, string>>>> & {
    readonly version: string;
  };
  const manifest = JSON.parse(textOf("package.json")) as Manifest;
  const VERSION = /\d+\.\d+\.\d+(-[\w.]+)?$/.source;

  it.each(Object.entries(manifest.devDependencies))("%s is pinned: %s", (_name, version) => {
    expect(version).toMatch(new RegExp(`^(npm:(@[\\w.-]+/)?[\\w.-]+@)?${VERSION}`));
  });

  it.each(Object.entries(manifest.dependencies))("%s may be newer where it is installed: %s", (_name, version) => {
    expect(version).toMatch(new RegExp(`^\\^${VERSION}`));
  });

  it("has the version of create-parley, and of the package in its projects", () => {
    const folder = join("scripts", "create-parley");
    const own = JSON.parse(textOf(join(folder, "package.json"))) as Manifest;
    expect(own.version).toBe(manifest.version);
    for (const template of ["chat", "socketio", "engine"]) {
      const made = JSON.parse(textOf(join(folder, "templates", template, "package.json"))) as Manifest;
      expect(made.dependencies["parley-rooms"]).toBe(`^${manifest.version}`);
      // Released together: they share one runtime.
      for (const name of ["wrangler", "@cloudflare/vitest-plugin"])
        expect(made.devDependencies[name]).toBe(manifest.devDependencies[name]);
    }
  });

  it("has the version that /health shows, and package-lock.json", () => {
    const [, version] = /export const VERSION = "([^"]+)"/.exec(textOf("src/worker/version.ts"))!;
    const lock = JSON.parse(textOf("package-lock.json")) as Manifest & { packages: { "": Manifest } };
    expect([version, lock.version, lock.packages[""].version]).toEqual(Array(3).fill(manifest.version));
  });

  it("has the version of the newest chapter of CHANGELOG.md", () => {
    const [newest] = [...textOf("CHANGELOG.md").matchAll(/^## (\d\S*)/gm)].map(([, version]) => version);
    expect(newest).toBe(manifest.version);
  });

  it("is a patch of a release that is kept for later ones", () => {
    const [, minor] = /^(\d+\.\d+)\.\d+$/.exec(manifest.version)!;
    expect(readdirSync(join(ROOT, "test", "releases"))).toContain(`${minor}.0`);
  });
});

describe("wrangler.toml", () => {
  /** One table: where it stands, and its lines. `[[x]]` and `[x]` alike. */
  interface Table {
    readonly name: string;
    readonly lines: string[];
  }

  const lines = textOf("wrangler.toml")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  const tables: Table[] = [{ name: "", lines: [] }];
  for (const line of lines) {
    const [, name] = /^\[+([\w.-]+)\]+$/.exec(line) ?? [];
    if (name === undefined) tables.at(-1)!.lines.push(line);
    else tables.push({ name, lines: [] });
  }

  /** Tables that are no bindings: environments inherit them, or name values of their own. */
  const NO_BINDINGS = /^(|build|alias|assets|migrations|triggers|limits|placement|observability(\..*)?|vars|env\..*)$/;
  /** The names and kinds of the bindings; the names of resources may differ. */
  const IDENTITY = /^(name|binding|class_name|type) *=/;
  const bindingsOf = (prefix: string): string[] =>
    tables
      .filter(({ name }) => name.startsWith(prefix) && !NO_BINDINGS.test(name.slice(prefix.length)))
      .map((table) => `${table.name.slice(prefix.length)}: ${table.lines.filter((line) => IDENTITY.test(line)).join()}`)
      .sort();

  it("has the tables that this test looks for", () => {
    expect(bindingsOf("").join("\n")).toContain("durable_objects.bindings");
    expect(tables.map(({ name }) => name)).toContain("env.development.vars");
  });

  it("gives development the bindings of the top level", () => {
    expect(bindingsOf("env.development.")).toEqual(bindingsOf(""));
  });

  it("has `npm start` build again when any part of the code changes", () => {
    const watched = /^watch_dir = (\[.*\])$/m.exec(textOf("wrangler.toml"))![1]!;
    expect(JSON.parse(watched)).toEqual(["client", "durable", "src"]);
  });

  it("is production at the top level, and nowhere else", () => {
    expect(tables.find(({ name }) => name === "vars")!.lines).toContain('ENVIRONMENT = "production"');
    const environments = new Set(tables.flatMap(({ name }) => /^env\.(\w+)/.exec(name)?.[1] ?? []));
    expect([...environments]).toEqual(["development"]);
  });
});

describe("the queues", () => {
  const retriesOf = (queue: string): number[] =>
    [
      ...textOf("wrangler.toml").matchAll(
        new RegExp(`^queue = "[\\w-]+-${queue}"\n(?:max_batch.*\n)+max_retries = (\\d+)$`, "gm"),
      ),
    ].map(([, count]) => Number(count));
  const triesOf = (file: string): number => Number(/export const \w*TRIES_MAX = (\d+)/.exec(textOf(file))![1]);

  it("HOOK-9: every environment tries webhooks as often as the code counts", () => {
    const retries = triesOf("src/features/webhooks/consumer.ts") - 1;
    expect(retriesOf("webhooks")).toEqual([retries, retries]);
  });

  it("RLY-9: every environment tries to pass on as often as the code counts", () => {
    const retries = triesOf("src/relay/tries.ts") - 1;
    expect(retriesOf("relay")).toEqual([retries, retries]);
  });
});

/** The projects of a folder: one, or several which share its files by their names. */
const tsconfigsIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder))
    .filter((name) => /^tsconfig(\.(?!emit)\w+)?\.json$/.test(name))
    .map((name) => join(folder, name));

const SPECS = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith("SPEC.md"))
  .map((file) => join("src", file));

describe("the rules of all specs", () => {
  const rules = SPECS.flatMap((spec) =>
    [...textOf(spec).matchAll(/^- \*\*([A-Z]+-\d+)\*\*/gm)].map(([, rule]) => rule!),
  );
  const named = (folders: readonly string[]): Set<string> =>
    new Set(folders.flatMap(sourcesIn).flatMap((path) => idsIn(textOf(path))));
  /** Also those within "ATT-1 to ATT-3". */
  const idsIn = (text: string): string[] =>
    [...text.matchAll(/\b([A-Z]+)-(\d+)\b(?: to \1-(\d+)\b)?/g)].flatMap(([, area, first, last = first]) =>
      Array.from({ length: Number(last) - Number(first) + 1 }, (_, at) => `${area}-${Number(first) + at}`),
    );

  it("each have an id, once", () => {
    expect(rules.length).toBeGreaterThan(30);
    expect(new Set(rules).size).toBe(rules.length);
  });

  it.each([
    ["where they are kept", ["src", "durable"], "no comment in src or durable names"],
    ["by the tests that hold them", ["test"], "no test names"],
  ])("are named %s", (_where, folders, lacking) => {
    const there = named(folders);
    const missing = rules.filter((rule) => !there.has(rule));
    expect(missing, `${lacking} ${missing.join(", ")}`).toEqual([]);
  });
});

describe("the documents", () => {
  const pages = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", ...SPECS].concat(
    readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".md"))
      .map((file) => join("docs", file)),
  );
  /** As GitHub makes the anchor of a heading. */
  const anchorOf = (heading: string): string =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
      .replaceAll(" ", "-");
  const anchorsOf = (page: string): string[] =>
    [...textOf(page).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading!));

  it.each(pages)("%s links to pages and chapters that exist", (page) => {
    const targets = [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);
    const broken = targets.filter((target) => {
      if (/^(https?:|mailto:)/.test(target)) return false;
      const [path, anchor] = target.split("#");
      const file = path === "" ? page : join(dirname(page), path!);
      if (!existsSync(join(ROOT, file))) return true;
      return anchor !== undefined && file.endsWith(".md") && !anchorsOf(file).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  it.each(pages)("%s names source files that exist", (page) => {
    const paths = [
      ...textOf(page).matchAll(
        /(?<![\w./-])((?:src|durable|client|scripts|test)\/[\w./-]+\.(?:tsx?|m?js|txt|toml))\b/g,
      ),
    ].map(([, path]) => path!);
    expect(paths.filter((path) => !/NAME|AREA/.test(path) && !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

describe("docs/architecture.md", () => {
  const pathOf = (name: string): string => (/^(durable$|client\b)/.test(name) ? name : `src/${name}`);
  /** Folders with imports that the compiler allows, as the table has them. */
  const rows = [
    ...textOf("docs/architecture.md").matchAll(
      /^\| `(src\/[\w/]+|durable|client[\w/]*)` +\| .* \| (nothing|`.*`) +\|$/gm,
    ),
  ].map(
    ([, folder, imports]) => [folder!, [...imports!.matchAll(/`([\w/]+)`/g)].map(([, name]) => pathOf(name!))] as const,
  );

  const partsOf = (folder: string): string[] => [
    folder,
    ...readdirSync(join(ROOT, folder), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(folder, name)),
  ];

  it.each(rows)("names the imports that the compiler allows %s", (folder, imports) => {
    // A folder of the chat has walls of its own; the table names the folders that any of them may import.
    const parts = folder === "src/chat" ? partsOf(folder) : [folder];
    const allowed = parts.flatMap((part) =>
      tsconfigsIn(part).flatMap((project) => {
        const { references = [] } = JSON.parse(textOf(project)) as {
          references?: ReadonlyArray<{ readonly path: string }>;
        };
        return references.map(({ path }) => join(part, path.replace(/\/?tsconfig[\w.]*\.json$/, "")));
      }),
    );
    const outside = allowed.filter((path) => folder === "client" || !`${path}/`.startsWith(`${folder}/`));
    expect(imports).toEqual([...new Set(outside)].toSorted());
  });

  it("has a row for each folder of src", () => {
    const folders = readdirSync(join(ROOT, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const missing = folders.filter(({ name }) => !rows.some(([folder]) => `${folder}/`.startsWith(`src/${name}/`)));
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  const sources = ["src", "durable", "client"].flatMap(sourcesIn);
  const chapter = (title: string): string =>
    textOf("docs/architecture.md").split(`## ${title}\n`)[1]!.split("\n## ", 1)[0]!;
  const quoted = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);

  it("says of each part by which words files outside of its folder are found", () => {
    const table = [
      ...chapter("Folders and their imports").matchAll(/^\| [\w ]+ \| (`src[^|]*)\| (`[^|]*)\|[^|]*\|$/gm),
    ];
    expect(table.length).toBeGreaterThan(10);
    const lacking = table.flatMap(([, folders, also]) => {
      const outside = sources.filter((file) => !quoted(folders!).some((folder) => file.startsWith(`${folder}/`)));
      const isFound = (word: string): boolean =>
        outside.some((file) => new RegExp(`(^|[-.])${word}s?[-.]`).test(basename(file)));
      return quoted(also!).filter((word) => /^[a-z-]+$/.test(word) && !isFound(word));
    });
    expect(lacking).toEqual([]);
  });

  it("names, on the way of a post, functions of the files beside them", () => {
    let file = "";
    const strays: string[] = [];
    const named = new Map<string, string>();
    /** Named before, or beside the file before it. */
    const found = (name: string): string => {
      const path = name.includes("/") ? name : (named.get(name) ?? join(dirname(file), name));
      named.set(basename(path), path);
      return path;
    };
    for (const name of quoted(chapter("The way of a post").split("\n1. ")[1]!)) {
      if (/\.tsx?$/.test(name)) file = found(name);
      else if (/^#?\w+$/.test(name) && !/^[A-Z]+$/.test(name) && !new RegExp(`${name}\\b`).test(textOf(file)))
        strays.push(`${name} in ${file}`);
    }
    expect(strays).toEqual([]);
    expect(named.size).toBeGreaterThan(30);
  });
});

describe("the walls between folders", () => {
  interface Project {
    readonly include: readonly string[];
    readonly exclude?: readonly string[];
    readonly references?: ReadonlyArray<{ readonly path: string }>;
  }

  it.each(["src", "client", "docs/examples"])("leave %s nothing but the package", (folder) => {
    const { references } = JSON.parse(textOf(join(folder, "tsconfig.json"))) as { references?: unknown };
    expect(references).toBeUndefined();
  });

  const readProject = (file: string): Project => JSON.parse(textOf(file)) as Project;
  /** The projects of the nearest folder at or above `folder` that has some. */
  const projectsOf = (folder: string): string[] => {
    const here = tsconfigsIn(folder);
    return here.length > 0 ? here : projectsOf(dirname(folder));
  };
  const takes = (project: string, file: string): boolean => {
    const { include, exclude = [] } = readProject(project);
    const matches = (pattern: string): boolean => matchesGlob(relative(dirname(project), file), pattern);
    return include.some(matches) && !exclude.some(matches);
  };
  const projectOf = (file: string): string => {
    const [only, ...more] = projectsOf(dirname(file));
    return more.length === 0 ? only! : [only!, ...more].find((project) => takes(project, file))!;
  };
  const referencesOf = (project: string): readonly string[] =>
    (readProject(project).references ?? []).map(({ path }) => {
      const target = join(dirname(project), path);
      return target.endsWith(".json") ? target : join(target, "tsconfig.json");
    });

  // The compiler refuses every other import but those of projects that a reference refers to in its turn.
  it("stand: each import leads into a project that the importing one names", () => {
    const strays = ["src", "durable", "client"].flatMap(sourcesIn).flatMap((file) => {
      const project = projectOf(file);
      const allowed = new Set([project, ...referencesOf(project)]);
      return (
        [...textOf(file).matchAll(/from "(\.[^"]+)"/g)]
          .map(([, target]) => projectOf(join(dirname(file), target!)))
          // The chat as a whole is one project to those outside it.
          .map((target) =>
            project.startsWith("src/chat") ? target : target.replace(/^src\/chat\/.*/, "src/chat/tsconfig.json"),
          )
          .filter((target) => !allowed.has(target))
          .map((target) => `${file} imports ${target}`)
      );
    });
    expect(strays).toEqual([]);
  });
});

describe("the walls between features", () => {
  const FEATURES = join("src", "features");
  const names = readdirSync(join(ROOT, FEATURES), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  /** Other features that one imports. */
  const NEEDS: Readonly<Record<string, readonly string[]>> = {
    relay: ["dead-letters"],
    announcements: ["dead-letters"],
  };
  /** In the room written as applications write theirs; their calls of the HTTP API are not. */
  const ON_EXTENSION_ALONE = new Set(["pins", "reports"]);

  it.each(names)("stand: %s imports no feature that it does not need", (name) => {
    const own = join(FEATURES, name, "/");
    const isAlone = ON_EXTENSION_ALONE.has(name);
    const others = sourcesIn(join(FEATURES, name))
      .filter((file) => !isAlone || !/^(?:index|http.*)\.ts$/.test(basename(file)))
      .flatMap((file) => [...textOf(file).matchAll(/from "(\.[^"]+)"/g)].map(([, to]) => join(dirname(file), to!)))
      .filter((target) => !target.startsWith(own));
    const needed = (NEEDS[name] ?? []).map((other) => join(FEATURES, other, "/"));
    const mayImport = (target: string): boolean =>
      isAlone
        ? target.startsWith("src/extension/")
        : dirname(target) === FEATURES ||
          !target.startsWith(`${FEATURES}/`) ||
          needed.some((other) => target.startsWith(other));
    const refused = others.filter((target) => !mayImport(target));
    const may = isAlone ? "src/extension alone" : "no other feature that NEEDS does not name";
    expect(refused, `${name} may import ${may}`).toEqual([]);
  });
});

it.each([
  ["README.md", "## Add it to your app"],
  ["docs/in-your-worker.md", "# In your Worker"],
])("%s says beside its Worker what the Worker's configuration needs", (page, chapter) => {
  const [, text] = textOf(page).split(`${chapter}\n`);
  const [beginning] = text!.split("\n## ", 1);
  const config = textOf("test/outside/consumer/readme/wrangler.toml");
  const [, flag, binding] = /compatibility_flags = \["(\w+)"\][^]*\nname = "(\w+)"/.exec(config)!;
  for (const name of [flag!, binding!]) expect(beginning).toContain(name);
});

it.each(["app/index.js", "literal/index.js"])("README.md shows test/outside/consumer/%s as it is", (file) => {
  expect(textOf("README.md")).toContain(`\n\`\`\`js\n${textOf(join("test/outside/consumer", file))}\`\`\`\n`);
});

it("docs/examples/four-lines has the configuration with which readme.test.ts runs the same lines in JavaScript", () => {
  const running = textOf("test/outside/consumer/readme/wrangler.toml")
    .replace('name = "readme"', 'name = "four-lines"')
    .replace('main = "index.js"', 'main = "index.ts"');
  const parts = textOf("docs/examples/four-lines/wrangler.toml")
    .replaceAll(/^#.*\n/gm, "")
    .split("\n\n");
  expect(parts.filter((part) => !running.includes(part))).toEqual([]);
});

describe.each([
  [
    "docs/from-socket-io.md",
    ["unchanged/server.ts", "four-lines/index.ts", ...Array<string>(8).fill("auction/auction.ts"), "auction/index.ts"],
  ],
  ["docs/stock-socket-io.md", ["unchanged/index.ts"]],
  [
    "docs/socket-io-reference.md",
    ["drawing/drawing.ts", "drawing/page.ts", "review/index.ts", "league/index.ts", "guestbook/index.ts"],
  ],
  [
    "docs/in-your-worker.md",
    [
      "mounted/index.ts",
      "mounted/wrangler.toml",
      "mounted/vitest.config.mts",
      "mounted/chat.test.ts",
      "kinds/index.ts",
    ],
  ],
  [
    "docs/testing.md",
    [
      "notes/notes.ts",
      "notes/vitest.config.mts",
      "notes/notes.test.ts",
      "notes/notes.simulation.ts",
      "notes/simulation.test.ts",
    ],
  ],
  ["docs/identity-providers.md", ["sign-in/index.ts"]],
  ["docs/rules.md", ["rules/index.ts", "rules/reactions.ts", "rules/by-service.ts", "rules/by-http.ts"]],
  ["docs/features.md", ["features/index.ts", "bare/index.ts", "features/polls.ts"]],
])("%s", (page, names) => {
  const samples = [...textOf(page).matchAll(/^```\w+\n(?:\/\/|#) (docs\/examples\/\S+)\n([\s\S]*?)\n```$/gm)];

  it("shows each file of its example as it is", () => {
    expect(samples.map(([, file]) => file)).toEqual(names.map((name) => `docs/examples/${name}`));
    for (const [, file, sample] of samples) expect(textOf(file!)).toContain(sample!);
  });
});
