// The chart of the scenario `race`: latency and CPU over clients, a line for each server. One SVG file, readable on light and dark paper. Called by
// measure.ts.
import { escapeHtml, niceCeiling, roundTicks, shortNumber } from "../measuring/charts.ts";
import type { RaceReading, RaceWindow } from "./load/job.ts";
import type { Outcome } from "./outcome.ts";

interface Line {
  readonly name: string;
  readonly colour: number;
  /** Of the runs in which keystrokes are shown together. */
  readonly isDashed: boolean;
  readonly windows: readonly RaceWindow[];
}

interface Panel {
  readonly title: string;
  readonly max: number;
  /** Drawn as a line, with its name. */
  readonly limit?: number;
  readonly read: (window: RaceWindow) => number;
}

const WIDTH = 860;
const PANEL_HEIGHT = 260;
const [LEFT, RIGHT, TOP, BOTTOM] = [52, 16, 34, 30];
const KEY_ROW = 20;
const P95_MS_SHOWN = 100;
const CLIENTS_MIN = 100;

const PANELS: readonly Panel[] = [
  {
    title: "p95 of the ping event, ms; 100 and more at the top",
    max: P95_MS_SHOWN,
    limit: 50,
    read: ({ p95Ms }) => p95Ms,
  },
  { title: "CPU of the server, % of one core", max: 100, read: ({ serverBusy }) => serverBusy * 100 },
];

/** @param titles of the peers. @returns `undefined` without any race among the outcomes */
export function raceChart(outcomes: readonly Outcome[], titles: ReadonlyMap<string, string>): string | undefined {
  const lines = linesOf(outcomes, titles);
  if (lines.length === 0) return undefined;
  const clients = Math.max(CLIENTS_MIN, ...lines.flatMap(({ windows }) => windows.map((window) => window.clients)));
  const keyHeight = lines.length * KEY_ROW + 16;
  const height = PANELS.length * PANEL_HEIGHT + keyHeight;
  const panels = PANELS.map((panel, index) => panelOf(panel, lines, niceCeiling(clients), index * PANEL_HEIGHT));
  const keys = lines.map((line, index) => keyOf(line, PANELS.length * PANEL_HEIGHT + 16 + index * KEY_ROW));
  const label = "The typing race: p95 of a ping event and CPU over clients, a line for each server";
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${label}">
<style>${STYLE}</style><rect class="paper" width="${WIDTH}" height="${height}"/>
${[...panels, ...keys].join("\n")}
</svg>
`;
}

function linesOf(outcomes: readonly Outcome[], titles: ReadonlyMap<string, string>): Line[] {
  const peers = [...new Set(outcomes.map(({ peer }) => peer))];
  const runs = [...new Set(outcomes.map(({ run }) => run))];
  return outcomes.flatMap(({ reading, verdict, peer, run }) => {
    if (reading?.kind !== "race" || verdict !== "ok") return [];
    const name = `${titles.get(peer) ?? peer}: ${run.replace(/^race, /, "")}`;
    const { windows } = reading satisfies RaceReading;
    return [{ name, colour: peers.indexOf(peer) + 1, isDashed: runs.indexOf(run) > 0, windows }];
  });
}

function panelOf({ title, max, limit, read }: Panel, lines: readonly Line[], clients: number, top: number): string {
  const xAt = (x: number): string => (LEFT + (x / clients) * (WIDTH - LEFT - RIGHT)).toFixed(1);
  const yAt = (y: number): string =>
    (top + PANEL_HEIGHT - BOTTOM - (Math.min(y, max) / max) * (PANEL_HEIGHT - TOP - BOTTOM)).toFixed(1);
  const horizontal = (y: number, name: string): string =>
    `<line class="${name}" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${yAt(y)}" y2="${yAt(y)}"/>`;
  const rows = roundTicks(0, max, 5).map(
    (y) => horizontal(y, "grid") + text("axis", LEFT - 8, Number(yAt(y)) + 4, String(y), "end"),
  );
  const columns = roundTicks(0, clients, 8).map((x) =>
    text("axis", Number(xAt(x)), top + PANEL_HEIGHT - 10, shortNumber(x), x === clients ? "end" : "middle"),
  );
  const paths = lines.map(({ windows, colour, isDashed, name }) => {
    const points = windows.filter((window) => window.clients > 0 && Number.isFinite(read(window)));
    const path = points.map((window, at) => `${at === 0 ? "M" : "L"}${xAt(window.clients)} ${yAt(read(window))}`);
    return `<path class="line s${colour}${isDashed ? " dashed" : ""}" d="${path.join("")}"><title>${escapeHtml(name)}</title></path>`;
  });
  return [
    text("title", LEFT, top + 22, title, "start"),
    text("axis", WIDTH - RIGHT, top + 22, "over clients", "end"),
    ...rows,
    ...columns,
    ...(limit === undefined ? [] : [horizontal(limit, "limit")]),
    ...paths,
  ].join("");
}

function keyOf({ name, colour, isDashed }: Line, y: number): string {
  const stroke = `<path class="line s${colour}${isDashed ? " dashed" : ""}" d="M${LEFT} ${y}h34"/>`;
  return stroke + text("key", LEFT + 44, y + 4, name, "start");
}

function text(name: string, x: number, y: number, content: string, anchor: string): string {
  return `<text class="${name}" x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${escapeHtml(content)}</text>`;
}

/** The colours of scripts/measuring/charts.ts. */
const STYLE = `
svg { --paper: #fff; --ink: #1b1f24; --soft: #5b6570; --rule: #e3e6ea; --s1: #1f6feb; --s2: #c2410c; --s3: #7c3aed; --bad: #b91c1c; }
@media (prefers-color-scheme: dark) { svg { --paper: #0f1317; --ink: #e6e9ed; --soft: #9aa5b1; --rule: #2a313a; --s1: #6ea8fe; --s2: #fb923c;
  --s3: #c4a1ff; --bad: #f87171; } }
text { font: 12px system-ui, sans-serif; fill: var(--soft); } .title, .key { fill: var(--ink); font-size: 13px; } .title { font-weight: 600; }
.paper { fill: var(--paper); } .grid { stroke: var(--rule); } .limit { stroke: var(--bad); stroke-dasharray: 2 4; }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; } .dashed { stroke-dasharray: 7 4; }
.s1 { stroke: var(--s1); } .s2 { stroke: var(--s2); } .s3 { stroke: var(--s3); }
`;
