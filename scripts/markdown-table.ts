// A table that can be read on a terminal, and pasted into a document: in the form that the formatter gives it. Called by the reports of the
// measuring scripts, and by settings-page.ts.

/** @param rows the first is the head */
export function markdownTable(rows: ReadonlyArray<readonly string[]>): string {
  const [head, ...body] = rows;
  const widths = head!.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  const line = (row: readonly string[]): string =>
    `| ${widths.map((width, column) => (row[column] ?? "").padEnd(width)).join(" | ")} |`;
  return [line(head!), line(widths.map((width) => "-".repeat(width))), ...body.map(line)].join("\n");
}
