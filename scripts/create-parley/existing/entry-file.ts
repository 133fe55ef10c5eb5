// The entry file of an existing Worker. Called by add-to-worker.ts: it adds the export of the classes where that cannot hurt, and writes
// the lines that only the Worker's author can place.
import { lineEndOf } from "./config-format.ts";

const IS_SOURCE = /\.[mc]?[jt]sx?$/;
/** Folders whose files a build writes. */
const IS_BUILT = /(^|\/)(\.[^./][^/]*|node_modules|dist|build|out)\//;

/**
 * @param file its path from the folder of the configuration, with slashes
 * @returns the text with the export; `undefined` where the file is none to write to, or has any of the names already
 */
export function withExport(file: string, text: string, classes: readonly string[], from: string): string | undefined {
  if (!IS_SOURCE.test(file) || IS_BUILT.test(file) || !/^export\b/m.test(text)) return undefined;
  if (classes.some((name) => new RegExp(`\\b${name}\\b`).test(text))) return undefined;
  const lineEnd = lineEndOf(text);
  return `${text.trimEnd()}${lineEnd}${lineEnd}${exportOf(classes, from)}${lineEnd}`;
}

/** Of the classes, one that the file declares itself without extending a class that could be the package's. */
export const foreignClass = (text: string, classes: readonly string[]): string | undefined =>
  classes.find((name) => {
    const [, base] = new RegExp(`^\\s*(?:export\\s+)?class\\s+${name}\\b([^{]*)`, "m").exec(text) ?? [];
    return base !== undefined && !/\bextends\s+(?!DurableObject\b)/.test(base);
  });

/** @param from the module that has the classes */
export const exportOf = (classes: readonly string[], from: string): string =>
  `export { ${classes.join(", ")} } from "${from}";`;

/** Whether all classes are exported by name, as `withExport` does it. */
export function hasExport(text: string, classes: readonly string[]): boolean {
  const lists = [...text.matchAll(/\bexport\s*\{([^}]*)\}/g)].map(([, list]) => list!);
  const classed = [...text.matchAll(/\bexport\s+(?:default\s+)?class\s+(\w+)/g)].map(([, name]) => name!);
  const names = new Set([
    ...lists.flatMap((list) => list.split(",").map((item) => item.trim().split(/\s+/).at(-1)!)),
    ...classed,
  ]);
  return classes.every((name) => names.has(name));
}

/** The lines that the author adds: with Hono a route, otherwise the beginning of `fetch`. */
export function linesToAdd({
  basePath,
  isHono,
}: {
  readonly basePath: string;
  readonly isHono: boolean;
}): readonly string[] {
  return [
    'import { createParley } from "parley-rooms";',
    "",
    "const parley = createParley({",
    ...(basePath === "" ? [] : [`  basePath: ${JSON.stringify(basePath)},`]),
    "  // Your users: { user: id, name } of the session in the request, or undefined for a stranger.",
    "  authenticate: async (request, env) => undefined,",
    "});",
    "",
    ...(isHono
      ? [
          "// among your routes",
          `app.all("${basePath}/*", async (c, next) => (await parley.handle(c.req.raw, c.env, c.executionCtx)) ?? next());`,
        ]
      : [
          "// at the beginning of fetch(request, env, ctx)",
          "const answer = await parley.handle(request, env, ctx);",
          "if (answer) return answer;",
        ]),
  ];
}
