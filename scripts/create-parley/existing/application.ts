// The Socket.IO application that an existing Worker gets: the board of the template, in a file of its own beside the entry file. Called by
// add-to-worker.ts.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

import type { ClassPart } from "../../chat-parts.ts";
import { TEMPLATES } from "../new-project.ts";
import { Refusal } from "../refusal.ts";
import { honoType, type Style } from "./lines-to-add.ts";

export const BOARD: ClassPart = { binding: "BOARD", className: "BoardObject", purpose: "the boards" };

const NAME = "board";

const withoutHeader = (text: string): string => text.replace(/^(\/\/.*\n)+/, "").trim();

/** The sources of the template, as one file. */
export function applicationText(): string {
  const read = (name: string): string => readFileSync(new URL(`socketio/src/${name}.ts`, TEMPLATES), "utf8");
  const imports = /^import .* from "\.\/events\.ts";\n+/m;
  const [head, ...body] = withoutHeader(read("board")).replace(imports, "").split("\n\n");
  const parts = [
    "// A board, one object each: its events, and what it does with them.",
    head,
    withoutHeader(read("events")),
  ];
  return `${[parts.slice(0, 2).join("\n"), parts[2], ...body].join("\n\n")}\n`;
}

/**
 * @param main the entry file
 * @returns the file, and its text where it is not there yet
 * @throws Refusal where another file has its place
 */
export function applicationFile(main: string): { readonly file: string; readonly text?: string } {
  const file = path.join(path.dirname(main), `${NAME}.ts`);
  if (!existsSync(file)) return { file, text: applicationText() };
  if (new RegExp(`\\bclass ${BOARD.className}\\b`).test(readFileSync(file, "utf8"))) return { file };
  throw new Refusal(`${file} is there already, and the application needs that name. Nothing was changed.`);
}

/** TypeScript finds `board.ts` by the name that a compiler gives it; bundlers of JavaScript know no other name than its own. */
export const moduleOf = (main: string): string => `./${NAME}.${/\.[mc]?tsx?$/.test(main) ? "js" : "ts"}`;

/** With Hono a route, otherwise the beginning of `fetch`. */
export function applicationLines(basePath: string, style: Style): readonly string[] {
  const at = basePath === "" ? "" : `path: ${JSON.stringify(basePath)}, `;
  const begin = basePath === "" ? "/rooms/" : `${basePath}/`;
  const connecting = (request: string, env: string): string =>
    `connect(${request}, { ${at}object: (name) => ${env}.${BOARD.binding}.getByName(name) })`;
  return [
    'import { connect } from "parley-rooms/socketio";',
    "",
    "// in the type of your bindings, where `wrangler types` does not write it",
    `readonly ${BOARD.binding}: DurableObjectNamespace;`,
    "",
    ...honoType(style),
    "// To let in only users whom you know, add `authenticate` to the options.",
    ...(style.isHono
      ? ["// among your routes", `app.all("${begin}*", (c) => ${connecting("c.req.raw", "c.env")});`]
      : [
          "// at the beginning of fetch(request, env, ctx)",
          `if (new URL(request.url).pathname.startsWith("${begin}")) return ${connecting("request", "env")};`,
        ]),
  ];
}
