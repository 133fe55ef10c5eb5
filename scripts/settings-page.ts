// Writes docs/settings.md from the declarations of the settings and their texts: `node scripts/settings-page.ts`. With `--check` it writes nothing and
// fails where the page is stale; `npm run check` calls it so.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import * as z from "zod/mini";

import { DECLARED, SECTIONS, type Declared, type Setting } from "../src/settings/declared.ts";
import * as kinds from "../src/settings/kinds.ts";
import { ROOMS_MAX } from "../src/settings/tokens/claims.ts";
import { PROJECT_ROOT } from "./local-variables.ts";
import { markdownTable } from "./markdown-table.ts";
import { TEXTS } from "./setting-texts.ts";

const PAGE = path.join(PROJECT_ROOT, "docs/settings.md");

const INTRODUCTION = `# Settings

<!-- Written by scripts/settings-page.ts from src/settings/declared.ts and scripts/setting-texts.ts. Change it there, then run: node scripts/settings-page.ts -->

A setting is a variable of the Worker. An empty value counts as none. A range takes whole numbers, unless \`decimal\` stands before it. A text has at most so many characters; a secret, in production, at least so many bytes.

- **Deployed:** \`[vars]\` of \`wrangler.toml\`, and secrets by \`npx wrangler secret put NAME\`.
- **\`npm start\`, \`npm run serve\`:** \`.dev.vars\`; variables of the environment win.

\`ENVIRONMENT=development\`, as \`npm start\` sets it, turns on the defaults for development; any other value means production.

The server names each bad value, and settings that need or exclude each other: \`npm start\` and \`npm run serve\` stop, a deployed Worker answers 503 and logs the reason.
Both commands warn of a variable that nearly has the name of a setting; for a deployment the [doctor](doctor.md) does.

A limit of 0 means no limit, unless its meaning says otherwise. With \\*, the guests of one address count as one user, and services not at all.
`;

/** The page as the declarations have it. */
function settingsPage(): string {
  const sections = Object.entries(SECTIONS).map(([title, settings]) => {
    const rows = Object.entries<Setting>(settings).map(([key, setting]) => rowOf(setting, key as keyof Declared));
    return `## ${title}\n\n${markdownTable([["setting", "value", "default", "meaning"], ...rows])}\n`;
  });
  return [
    INTRODUCTION,
    ...sections,
    `## The default of \`FILE_TYPES\`\n\n${DECLARED.fileTypes.default.map((type) => `\`${type}\``).join(", ")}\n`,
  ].join("\n");
}

function rowOf({ name, kind, default: value, inDevelopment }: Setting, key: keyof Declared): string[] {
  const { unit, defaultText, meaning } = TEXTS[key];
  const development = inDevelopment === undefined ? "" : ` (development: ${textOf(inDevelopment)})`;
  return [
    `\`${name}\``,
    unit === undefined ? kindText(kind) : `${kindText(kind)} ${unit}`,
    defaultText ?? `${textOf(value)}${development}`,
    meaning,
  ];
}

/** Kinds of values in words. Bounds and choices are those of the schemas. */
const KIND_TEXTS = new Map<unknown, string>([
  [kinds.onOff, "`on`, `off`"],
  [kinds.text, "text"],
  [kinds.publicKey, "PEM or JWK of kind RSA, P-256 or Ed25519"],
  [kinds.url, "URL"],
  [kinds.urlWithUser, "URL"],
  [kinds.signInUrl, `URL with \`${kinds.RETURN_PLACE}\` in it`],
  [kinds.transports, "`websocket`, `polling` or both, comma-separated"],
  [kinds.roomRules, `at most ${ROOMS_MAX} names, or prefixes ending in \`*\`, comma-separated`],
  [kinds.mediaTypes, "media types, comma-separated; `audio/*` is all of a kind"],
  [kinds.origins, "`*`, or origins, comma-separated"],
]);

const WHOLE = "^\\d+$";

function kindText(kind: kinds.Kind<unknown>): string {
  const known = KIND_TEXTS.get(kind);
  if (known !== undefined) return known;
  if (kind.developmentSchema) return `secret, ${bytesMinOf(kind.schema)} bytes`;
  const { pattern, enum: choices } = z.toJSONSchema(kind.schema, { io: "input" });
  const { minimum, maximum, maxLength } = z.toJSONSchema(kind.schema);
  if (choices) return choices.map((choice) => `\`${String(choice)}\``).join(", ");
  if (maxLength !== undefined) return `text, ${maxLength} characters`;
  return `${pattern === WHOLE ? "" : "decimal, "}${minimum} to ${maximum}`;
}

/** The length of the shortest text that a schema takes. */
function bytesMinOf(schema: z.ZodMiniType): number {
  let text = "";
  while (!schema.safeParse(text).success) text += "x";
  return text.length;
}

function textOf(value: unknown): string {
  if (value === undefined) return "none";
  if (typeof value === "boolean") return value ? "`on`" : "`off`";
  return `\`${Array.isArray(value) ? value.join(",") : (value as string | number)}\``;
}

if (!process.argv.includes("--check")) writeFileSync(PAGE, settingsPage());
else if (readFileSync(PAGE, "utf8") !== settingsPage()) {
  console.log("docs/settings.md is stale: run node scripts/settings-page.ts");
  process.exitCode = 1;
}
