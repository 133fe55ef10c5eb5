// The table of planted bugs in docs/reliability.md: made, put there, and read again.
import type { PlantedChatBug } from "./planted-bugs.ts";

const HEAD = ["bug", "in", "found by seed", "rule"];

/** One row of the table. */
export type PlantedRow = Pick<PlantedChatBug, "bug" | "file" | "breaks"> & { readonly seed: number };

const cellsOf = ({ bug, file, seed, breaks }: PlantedRow): string[] => [bug, `\`${file}\``, String(seed), breaks];

export function plantedTable(rows: readonly PlantedRow[]): string {
  const cells = [HEAD, ...rows.map(cellsOf)];
  const widths = HEAD.map((_, at) => Math.max(...cells.map((row) => row[at]!.length)));
  const lines = cells.map((row) => `| ${row.map((cell, at) => cell.padEnd(widths[at]!)).join(" | ")} |`);
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [lines[0]!, rule, ...lines.slice(1)].join("\n");
}

const TABLE = /^\|\s*bug\s*\|\s*in\s*\|.*\n(?:\|.*(?:\n|$))*/m;

/** @throws Error where there is no such table */
export function withPlantedTable(docs: string, table: string): string {
  if (!TABLE.test(docs)) throw new Error("docs/reliability.md has no table of planted bugs");
  return docs.replace(TABLE, () => `${table}\n`);
}

/** The cells of the table, without its head. */
export function plantedRows(docs: string): string[][] {
  const lines = TABLE.exec(docs)?.[0].trim().split("\n").slice(2) ?? [];
  const rows = lines.map((line) => line.split("|").slice(1, -1));
  return rows.map((row) => row.map((cell) => cell.trim().replaceAll("`", "")));
}
