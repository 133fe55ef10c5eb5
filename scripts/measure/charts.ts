// Line charts as SVG text, for a page that is one file and needs no network. Colours are CSS variables of the page (report.ts).

export interface Line {
  readonly name: string;
  /** Which of the page's series colours. */
  readonly colour: 1 | 2 | 3;
  readonly points: ReadonlyArray<readonly [x: number, y: number]>;
}

export interface Chart {
  readonly title: string;
  readonly unit: string;
  readonly lines: readonly Line[];
  /** The labels below the axis; round numbers if absent. */
  readonly ticks?: ReadonlyArray<readonly [x: number, label: string]>;
  /** A stretch of x with a name, such as a phase. */
  readonly span?: { readonly from: number; readonly to: number; readonly name: string };
}

const [WIDTH, HEIGHT] = [720, 260];
const [LEFT, RIGHT, TOP, BOTTOM] = [56, 16, 14, 36];
const Y_TICKS = 4;
const X_TICKS = 8;
/** A label this close to the end would be cut off there. */
const X_LABEL_HALF = 20;

export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);

export function chartOf({ title, unit, lines, ticks, span }: Chart): string {
  const all = lines.flatMap(({ points }) => points);
  const keys = lines.map(({ name, colour }) => `<li><i class="s${colour}"></i>${escapeHtml(name)}</li>`).join("");
  const head = `<figcaption><b>${escapeHtml(title)}</b><span>${escapeHtml(unit)}</span><ul>${keys}</ul></figcaption>`;
  if (all.length === 0) return `<figure>${head}<p class="soft">Nothing to show.</p></figure>`;
  const xs = [...all.map(([x]) => x), ...(ticks ?? []).map(([x]) => x)];
  const [xMin, xMax] = [Math.min(...xs), Math.max(...xs)];
  const yMax = niceCeiling(Math.max(...all.map(([, y]) => y)));
  const xAt = (x: number): number => LEFT + ((x - xMin) / (xMax - xMin || 1)) * (WIDTH - LEFT - RIGHT);
  const yAt = (y: number): number => HEIGHT - BOTTOM - (y / yMax) * (HEIGHT - TOP - BOTTOM);
  const content = [
    span && band(span, xAt(Math.max(span.from, xMin)), xAt(Math.min(span.to, xMax))),
    ...Array.from({ length: Y_TICKS + 1 }, (_, tick) => (yMax * tick) / Y_TICKS).map((y) => gridLine(y, yAt(y))),
    ...(ticks ?? roundTicks(xMin, xMax, X_TICKS)).map(([x, label]) => xTick(label, xAt(x))),
    ...lines.map(({ name, colour, points }) => {
      const path = points.map(([x, y], at) => `${at === 0 ? "M" : "L"}${xAt(x).toFixed(1)} ${yAt(y).toFixed(1)}`);
      return `<path class="line s${colour}" d="${path.join("")}"><title>${escapeHtml(name)}</title></path>`;
    }),
  ];
  return `<figure>${head}
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeHtml(title)}">${content.join("")}</svg></figure>`;
}

function gridLine(y: number, at: number): string {
  const line = `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at.toFixed(1)}" y2="${at.toFixed(1)}"/>`;
  return `${line}<text class="axis" x="${LEFT - 8}" y="${(at + 4).toFixed(1)}" text-anchor="end">${shortNumber(y)}</text>`;
}

function xTick(label: string, at: number): string {
  const anchor = at > WIDTH - RIGHT - X_LABEL_HALF ? "end" : "middle";
  return `<text class="axis" x="${at.toFixed(1)}" y="${HEIGHT - 10}" text-anchor="${anchor}">${escapeHtml(label)}</text>`;
}

function band({ name }: NonNullable<Chart["span"]>, left: number, right: number): string {
  if (right <= left) return "";
  const box = `x="${left.toFixed(1)}" y="${TOP}" width="${(right - left).toFixed(1)}" height="${HEIGHT - TOP - BOTTOM}"`;
  return `<rect class="span" ${box}/><text class="axis" x="${(left + 5).toFixed(1)}" y="${TOP + 12}">${escapeHtml(name)}</text>`;
}

/** Multiples of a round number between the two, at most one more than `count`. */
export function roundTicks(from: number, to: number, count: number): Array<[x: number, label: string]> {
  const step = niceCeiling((to - from) / count);
  const ticks: Array<[number, string]> = [];
  for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step) ticks.push([tick, shortNumber(tick)]);
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
