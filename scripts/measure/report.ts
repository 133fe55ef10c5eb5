// A report of any mode: written once as data, and shown as text on a terminal, as JSON, and as one HTML page. Called by load.ts, bench.ts,
// crash.ts and cost.ts.
import { accessSync, constants, existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { markdownTable } from "../markdown-table.ts";
import { chartOf, escapeHtml, type Chart } from "./charts.ts";

export interface Section {
  readonly title: string;
  /** The first row is the head. */
  readonly table?: ReadonlyArray<readonly string[]>;
  readonly notes?: readonly string[];
  /** On the page alone. */
  readonly charts?: readonly Chart[];
}

export interface Report {
  readonly title: string;
  readonly subtitle: string;
  /** The last line on a terminal, the first of the page; absent if there is nothing to judge. */
  readonly verdict?: { readonly words: string; readonly isGood?: boolean };
  readonly sections: readonly Section[];
  /** What `--json` writes. */
  readonly data: unknown;
}

/** The options of all modes: where the report goes besides the terminal. */
export interface Files {
  readonly json?: string | undefined;
  readonly html?: string | undefined;
}

export const FILE_OPTIONS = { json: { type: "string" }, html: { type: "string" } } as const;

/**
 * Checks at the start: a mistake found at the end would waste the whole run.
 * @throws Error with the file that cannot be written
 */
export function requireWritable({ json, html }: Files): void {
  for (const [name, file] of Object.entries({ json, html })) {
    if (file === undefined) continue;
    try {
      accessSync(existsSync(file) ? file : path.dirname(path.resolve(file)), constants.W_OK);
    } catch (error) {
      throw new Error(`--${name} ${file} cannot be written: ${(error as Error).message}`, { cause: error });
    }
  }
}

export function writeFiles({ json, html }: Files, report: Report): void {
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(report.data, rounded, 2)}\n`);
  if (html !== undefined) writeFileSync(html, htmlOf(report));
}

/** More than six digits of a measurement are noise; counts stay whole. */
const rounded = (_name: string, value: unknown): unknown =>
  typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value;

export function textOf({ title, subtitle, sections, verdict }: Report): string {
  return [
    title,
    subtitle,
    ...sections
      .filter(({ table, notes }) => table ?? notes)
      .flatMap(({ table, notes = [] }) => ["", ...(table ? [markdownTable(table)] : []), ...notes]),
    ...(verdict ? ["", verdict.words] : []),
  ].join("\n");
}

export function htmlOf({ title, subtitle, sections, verdict }: Report): string {
  const kind = verdict?.isGood === undefined ? "" : verdict.isGood ? " good" : " bad";
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${escapeHtml(title)}</title><style>${STYLE}</style></head>
<body><main><h1>${escapeHtml(title)}</h1><p class="soft">${escapeHtml(subtitle)}</p>
${verdict ? `<p class="verdict${kind}">${escapeHtml(verdict.words)}</p>` : ""}
${sections.map(sectionOf).join("\n")}</main></body></html>
`;
}

function sectionOf({ title, table, notes = [], charts = [] }: Section): string {
  return [
    `<h2>${escapeHtml(title)}</h2>`,
    ...(table ? [tableOf(table)] : []),
    ...notes.map((note) => `<p class="soft">${escapeHtml(note)}</p>`),
    ...(charts.length > 0 ? [`<div class="charts">${charts.map(chartOf).join("\n")}</div>`] : []),
  ].join("\n");
}

function tableOf([head = [], ...body]: ReadonlyArray<readonly string[]>): string {
  const cells = (tag: string, row: readonly string[]): string =>
    `<tr>${row.map((cell) => `<${tag}>${escapeHtml(cell)}</${tag}>`).join("")}</tr>`;
  const rows = body.map((row) => cells("td", row)).join("");
  return `<div class="wide"><table><thead>${cells("th", head)}</thead><tbody>${rows}</tbody></table></div>`;
}

/** Colours by their roles, as on the chat page. */
const TOKENS = readFileSync(
  path.join(import.meta.dirname, "..", "..", "client", "page", "styles", "tokens.css"),
  "utf8",
);

const STYLE = `${TOKENS}
:root { --s1: var(--accent); --s2: light-dark(#b45309, #f0a35e); --s3: light-dark(#6d4fc4, #b7a3ff); }
* { box-sizing: border-box; }
body { margin: 0; background: var(--side); color: var(--text); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 32px 20px 64px; }
h1 { font-size: 24px; line-height: 1.25; margin: 0 0 4px; } h2 { font-size: 17px; margin: 36px 0 10px; }
p { margin: 6px 0; } .soft { color: var(--muted); }
.verdict { display: flex; gap: 12px; align-items: baseline; margin: 16px 0 20px; padding: 12px 16px; border-radius: var(--radius);
  background: var(--warn-ground); color: var(--warn); font-weight: 600; font-size: 17px; }
.verdict::before { content: "!"; font-weight: 700; }
.verdict.good { background: var(--good-ground); color: var(--good); } .verdict.good::before { content: "✓"; }
.verdict.bad { background: var(--bad-ground); color: var(--bad); } .verdict.bad::before { content: "✕"; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(460px, 100%), 1fr)); gap: 16px; margin-top: 16px; }
figure { margin: 0; background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); padding: 12px 14px; }
figcaption { display: flex; flex-wrap: wrap; gap: 4px 16px; align-items: baseline; } figcaption span { color: var(--muted); font-size: 13px; }
figcaption ul { display: flex; flex-wrap: wrap; gap: 2px 14px; list-style: none; margin: 0 0 0 auto; padding: 0; font-size: 13px; }
figcaption i { display: inline-block; width: 14px; height: 3px; border-radius: 2px; margin-right: 6px; vertical-align: middle; }
svg { display: block; width: 100%; height: auto; margin-top: 6px; }
.grid { stroke: var(--line); } .axis { fill: var(--muted); font-size: 16px; } .span { fill: var(--hover); }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; }
path.s1 { stroke: var(--s1); } path.s2 { stroke: var(--s2); } path.s3 { stroke: var(--s3); }
i.s1 { background: var(--s1); } i.s2 { background: var(--s2); } i.s3 { background: var(--s3); }
.wide { border: 1px solid var(--line); border-radius: var(--radius); background: var(--surface); overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 14px; }
th, td { text-align: right; padding: 7px 14px; border-bottom: 1px solid var(--line); } th { color: var(--muted); font-weight: 600; font-size: 13px; }
tr:last-child td { border-bottom: 0; }
th:first-child, td:first-child { text-align: left; }
@media (max-width: 600px) { .axis { font-size: 22px; } }
`;
