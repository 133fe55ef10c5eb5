// Charts as SVG text, for reports that are one file and need no network. Colours are CSS variables of the page around them.

export interface Line {
  readonly name: string;
  /** 1 to 4: which of the page's series colours. */
  readonly colour: 1 | 2 | 3 | 4;
  readonly points: ReadonlyArray<readonly [x: number, y: number]>;
}

export interface ChartOptions {
  readonly title: string;
  readonly yUnit: string;
  readonly lines: readonly Line[];
  /** The label below the axis for a value of x. */
  readonly xLabel: (x: number) => string;
  /** Where the axis begins and ends; where the points do, if absent. */
  readonly xRange?: readonly [from: number, to: number];
  /** Where labels stand; evenly spread where absent. */
  readonly xTicks?: readonly number[];
  /** Stretches of x with a name, such as phases. */
  readonly spans?: ReadonlyArray<{ readonly from: number; readonly to: number; readonly name: string }>;
}

const [WIDTH, HEIGHT] = [720, 260];
const [LEFT, RIGHT, TOP, BOTTOM] = [56, 16, 14, 36];
const Y_TICKS = 4;
const X_TICKS = 8;
/** A label this close to the end would be cut off there. */
const X_LABEL_HALF = 20;

export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);

export function lineChart({
  title,
  yUnit,
  lines,
  xLabel,
  xTicks,
  xRange = [Infinity, -Infinity],
  spans = [],
}: ChartOptions): string {
  const all = lines.flatMap(({ points }) => points);
  const xs = all.map(([x]) => x);
  const [xMin, xMax] = [Math.min(...xs, xRange[0]), Math.max(...xs, xRange[1])];
  const yMax = niceCeiling(Math.max(...all.map(([, y]) => y), 0));
  const xAt = (x: number): number => LEFT + ((x - xMin) / (xMax - xMin || 1)) * (WIDTH - LEFT - RIGHT);
  const yAt = (y: number): number => HEIGHT - BOTTOM - (y / yMax) * (HEIGHT - TOP - BOTTOM);
  if (all.length === 0)
    return figure(title, yUnit, lines, `<text class="axis" x="${LEFT}" y="60">Nothing to show.</text>`);
  const ticks = xTicks ?? roundTicks(xMin, xMax, X_TICKS);
  return figure(
    title,
    yUnit,
    lines,
    [
      ...spans.map((span) => spanOf(span, xAt, [xMin, xMax])),
      ...spreadOver(0, yMax, Y_TICKS).map((y) => gridLine(y, yAt(y))),
      ...ticks.map((x) => xTick(xLabel(x), xAt(x), xAt(x) > WIDTH - RIGHT - X_LABEL_HALF)),
      ...lines.map((line) => lineOf(line, xAt, yAt)),
    ].join(""),
  );
}

function figure(title: string, yUnit: string, lines: readonly Line[], content: string): string {
  const keys = lines.map(({ name, colour }) => `<li><i class="s${colour}"></i>${escapeHtml(name)}</li>`).join("");
  return `<figure><figcaption><b>${escapeHtml(title)}</b><span>${escapeHtml(yUnit)}</span><ul>${keys}</ul></figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeHtml(title)}">${content}</svg></figure>`;
}

function lineOf({ name, colour, points }: Line, xAt: (x: number) => number, yAt: (y: number) => number): string {
  const path = points.map(([x, y], index) => `${index === 0 ? "M" : "L"}${xAt(x).toFixed(1)} ${yAt(y).toFixed(1)}`);
  return `<path class="line s${colour}" d="${path.join("")}"><title>${escapeHtml(name)}</title></path>`;
}

function gridLine(y: number, at: number): string {
  const line = `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at.toFixed(1)}" y2="${at.toFixed(1)}"/>`;
  return `${line}<text class="axis" x="${LEFT - 8}" y="${(at + 4).toFixed(1)}" text-anchor="end">${shortNumber(y)}</text>`;
}

function xTick(label: string, at: number, isLast: boolean): string {
  const anchor = isLast ? "end" : "middle";
  return `<text class="axis" x="${at.toFixed(1)}" y="${HEIGHT - 10}" text-anchor="${anchor}">${escapeHtml(label)}</text>`;
}

function spanOf(
  { from, to, name }: { from: number; to: number; name: string },
  xAt: (x: number) => number,
  [xMin, xMax]: readonly [number, number],
): string {
  const [left, right] = [xAt(Math.max(from, xMin)), xAt(Math.min(to, xMax))];
  if (right <= left) return "";
  return (
    `<rect class="span" x="${left.toFixed(1)}" y="${TOP}" width="${(right - left).toFixed(1)}" height="${HEIGHT - TOP - BOTTOM}"/>` +
    `<text class="axis" x="${(left + 5).toFixed(1)}" y="${TOP + 12}">${escapeHtml(name)}</text>`
  );
}

export interface Bar {
  readonly name: string;
  readonly value: number;
  readonly label: string;
  readonly isOurs: boolean;
}

/** Bars beside each other's names, the longest over the whole width. */
export function barChart(title: string, bars: readonly Bar[]): string {
  const [rowHeight, nameWidth, labelWidth] = [30, 290, 110];
  const longest = Math.max(...bars.map(({ value }) => value), 1e-9);
  const rows = bars.map(({ name, value, label, isOurs }, index) => {
    const y = index * rowHeight + 8;
    const width = Math.max(2, (value / longest) * (WIDTH - nameWidth - labelWidth));
    return (
      `<text class="name" x="${nameWidth - 10}" y="${y + 15}" text-anchor="end">${escapeHtml(name)}</text>` +
      `<rect class="${isOurs ? "s1" : "s4"} bar" x="${nameWidth}" y="${y + 3}" width="${width.toFixed(1)}" height="17" rx="2"/>` +
      `<text class="name" x="${(nameWidth + width + 8).toFixed(1)}" y="${y + 16}">${escapeHtml(label)}</text>`
    );
  });
  const height = bars.length * rowHeight + 12;
  return `<figure><figcaption><b>${escapeHtml(title)}</b></figcaption>
<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeHtml(title)}">${rows.join("")}</svg></figure>`;
}

function spreadOver(from: number, to: number, count: number): number[] {
  return Array.from({ length: count + 1 }, (_, index) => from + ((to - from) * index) / count);
}

/** Multiples of a round number between the two, as many as `count` or a few less. */
export function roundTicks(from: number, to: number, count: number): number[] {
  const step = niceCeiling((to - from) / count);
  const ticks: number[] = [];
  for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step) ticks.push(tick);
  return ticks;
}

/** The next number that is 1, 2, 4 or 5 with zeros. */
export function niceCeiling(value: number): number {
  if (value <= 0) return 1;
  const magnitude = 10 ** Math.floor(Math.log10(value));
  return magnitude * ([1, 2, 4, 5, 10].find((step) => step * magnitude >= value) ?? 10);
}

export function shortNumber(value: number): string {
  if (value >= 1e6) return `${Number((value / 1e6).toFixed(1))}M`;
  if (value >= 1e4) return `${Number((value / 1e3).toFixed(1))}k`;
  return String(Number(value.toFixed(value < 10 ? 2 : 0)));
}

/** A page of such charts: one file, light and dark. */
export function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${escapeHtml(title)}</title><style>${STYLE}</style></head>
<body><main>${body}</main></body></html>
`;
}

const STYLE = `
:root { --paper: #fcfcfb; --card: #fff; --ink: #1b1f24; --soft: #5b6570; --rule: #e3e6ea; --span: #f2f5f9;
  --s1: #1f6feb; --s2: #c2410c; --s3: #7c3aed; --s4: #8a94a0; --good: #15803d; --bad: #b91c1c; }
@media (prefers-color-scheme: dark) { :root { --paper: #0f1317; --card: #171c22; --ink: #e6e9ed; --soft: #9aa5b1;
  --rule: #2a313a; --span: #1c232b; --s1: #6ea8fe; --s2: #fb923c; --s3: #c4a1ff; --s4: #7d8894; --good: #4ade80; --bad: #f87171; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 980px; margin: 0 auto; padding: 32px 20px 64px; }
h1 { font-size: 24px; line-height: 1.25; margin: 0 0 4px; }
h2 { font-size: 17px; margin: 36px 0 10px; }
p { margin: 6px 0; } .soft, small { color: var(--soft); }
.verdict { font-weight: 600; font-size: 17px; margin: 14px 0 20px; } .good { color: var(--good); } .bad { color: var(--bad); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(130px, 1fr)); gap: 12px; }
.tile { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 12px 14px; }
.tile b { display: block; font-size: 22px; font-variant-numeric: tabular-nums; } .tile span { color: var(--soft); font-size: 13px; }
figure { margin: 18px 0 0; background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 12px 14px; }
figcaption { display: flex; flex-wrap: wrap; gap: 4px 16px; align-items: baseline; } figcaption span { color: var(--soft); font-size: 13px; }
figcaption ul { display: flex; flex-wrap: wrap; gap: 2px 14px; list-style: none; margin: 0 0 0 auto; padding: 0; font-size: 13px; }
figcaption i { display: inline-block; width: 14px; height: 3px; border-radius: 2px; margin-right: 6px; vertical-align: middle; }
svg { display: block; width: 100%; height: auto; margin-top: 6px; }
.grid { stroke: var(--rule); } .axis { fill: var(--soft); font-size: 12px; } .name { fill: var(--ink); font-size: 13px; }
.span { fill: var(--span); } .line { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
path.s1 { stroke: var(--s1); } path.s2 { stroke: var(--s2); } path.s3 { stroke: var(--s3); } path.s4 { stroke: var(--s4); }
i.s1 { background: var(--s1); } i.s2 { background: var(--s2); } i.s3 { background: var(--s3); } i.s4 { background: var(--s4); }
rect.s1 { fill: var(--s1); } rect.s4 { fill: var(--s4); }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 14px; }
th, td { text-align: right; padding: 6px 10px; border-bottom: 1px solid var(--rule); } th { color: var(--soft); font-weight: 500; }
@media (max-width: 600px) { .axis { font-size: 22px; } }
th:first-child, td:first-child { text-align: left; } td.bad { color: var(--bad); font-weight: 600; }
`;

/** @param rows the first is the head */
export function table(rows: ReadonlyArray<readonly string[]>): string {
  const [head = [], ...body] = rows;
  const cells = (tag: string, row: readonly string[]): string =>
    `<tr>${row.map((cell) => `<${tag}>${escapeHtml(cell)}</${tag}>`).join("")}</tr>`;
  return `<div class="wide"><table><thead>${cells("th", head)}</thead><tbody>${body.map((row) => cells("td", row)).join("")}</tbody></table></div>`;
}
