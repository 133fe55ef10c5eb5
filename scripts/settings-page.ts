// Writes docs/settings.md from the declarations of the settings and their texts: `node scripts/settings-page.ts`. With `--check` it writes nothing and
// fails where the page is stale; `npm run check` calls it so.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { DECLARED, SECTIONS, type Declared, type Setting } from "../src/settings/declared.ts";
import { KEY_RULE, RULES, WARNINGS } from "../src/settings/setting-rules.ts";
import { PROJECT_ROOT } from "./local-variables.ts";
import { kindText } from "./setting-kinds.ts";
import { TEXTS } from "./setting-texts.ts";

const PAGE = path.join(PROJECT_ROOT, "docs/settings.md");

const INTRODUCTION = `# Settings

<!-- Written by scripts/settings-page.ts from src/settings/declared.ts and scripts/setting-texts.ts. Change it there, then run: node scripts/settings-page.ts -->

A setting is a variable of the Worker. An empty value counts as none.

- **Deployed:** write variables into \`[vars]\` of \`wrangler.toml\` and deploy them with \`npm run deploy\`. Set secrets with \`npx wrangler secret put NAME\`.
- **\`npm start\`:** variables come from \`.dev.vars\`, and those of the environment win. \`ENVIRONMENT\` is \`development\` there.
- **\`npm run serve\`:** the same two places, with the rules of production.

\`ENVIRONMENT=development\` turns on the defaults for development. Every other value, and none, means production.

The server names each bad value. \`npm start\` and \`npm run serve\` then stop; a deployed Worker answers 503 and writes the reason to its log.
Both commands warn of a variable that nearly has the name of a setting; for a deployment the [doctor](doctor.md) does.
`;

/** The page as the declarations have it. */
function settingsPage(): string {
  const sections = Object.entries(SECTIONS).map(([title, settings]) => {
    const rows = Object.entries<Setting>(settings).map(([key, setting]) => rowOf(setting, key as keyof Declared));
    return `## ${title}\n\n${tableOf([["setting", "value", "default", "meaning"], ...rows])}\n`;
  });
  const rules = [KEY_RULE, ...RULES].map(({ setting, error }) => `- \`${DECLARED[setting].name}\` ${error}`);
  const warnings = WARNINGS.map(({ name, warning }) => `- \`${name}\` ${warning}`);
  return [
    INTRODUCTION,
    ...sections,
    `## Settings that depend on each other\n\nThe server does not start with one of these errors:\n\n${rules.join("\n")}\n`,
    `It starts with these warnings in its log:\n\n${warnings.join("\n")}\n`,
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

function textOf(value: unknown): string {
  if (value === undefined) return "none";
  if (typeof value === "boolean") return value ? "`on`" : "`off`";
  return `\`${Array.isArray(value) ? value.join(",") : (value as string | number)}\``;
}

/** In the form that the formatter gives a table. */
function tableOf(rows: ReadonlyArray<readonly string[]>): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lineOf = (row: readonly string[], fill = " "): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column]!, fill)).join(" | ")} |`;
  const [head, ...body] = rows;
  return [
    lineOf(head!),
    lineOf(
      widths.map(() => ""),
      "-",
    ),
    ...body.map((row) => lineOf(row)),
  ].join("\n");
}

if (!process.argv.includes("--check")) writeFileSync(PAGE, settingsPage());
else if (readFileSync(PAGE, "utf8") !== settingsPage()) {
  console.log("docs/settings.md is stale: run node scripts/settings-page.ts");
  process.exitCode = 1;
}
