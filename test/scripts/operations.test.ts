// Tests the dashboard and the alert rules: each query names an exposed metric, and each alert links to its runbook.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

import { PRICES } from "../../src/metrics/cost.ts";
import { LOG_LEVELS } from "../../src/settings/log.ts";
import { USAGE_NAMES } from "../../src/metrics/usage.ts";
import { COUNTERS, GAUGES, HISTOGRAMS, PREFIX, TOP_COUNTERS } from "../../src/metrics/families.ts";

const ROOT = join(import.meta.dirname, "../..");
const textOf = (path: string): string => readFileSync(join(ROOT, path), "utf8");

const OPS = "scripts/ops";
const guide = textOf("docs/operations.md");

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly description?: string;
  readonly targets?: ReadonlyArray<{ readonly expr: string; readonly legendFormat: string }>;
  readonly fieldConfig?: {
    readonly defaults: {
      readonly thresholds?: {
        readonly steps: ReadonlyArray<{ readonly color: string; readonly value: number | null }>;
      };
    };
  };
}

const { panels } = JSON.parse(textOf(`${OPS}/dashboard.json`)) as { panels: Panel[] };
const rules = textOf(`${OPS}/alerts.yml`);

/** Every series that the server can expose, with its labels. */
const exposed = new Map<string, readonly string[]>([
  ...[COUNTERS, GAUGES, TOP_COUNTERS].flatMap((families) =>
    Object.values(families).map((family): [string, readonly string[]] => [
      PREFIX + family.name,
      "labels" in family ? family.labels : [],
    ]),
  ),
  ...Object.values(HISTOGRAMS).flatMap(({ name }): Array<[string, readonly string[]]> => [
    [`${PREFIX}${name}_bucket`, ["le"]],
    [`${PREFIX}${name}_sum`, []],
    [`${PREFIX}${name}_count`, []],
  ]),
]);

const metricsIn = (query: string): string[] => query.match(/\bparley_\w+/g) ?? [];

/** Labels that a query asks for: in selectors and in `by (…)`. */
const labelsIn = (query: string): string[] => [
  ...[...query.matchAll(/[{,]\s*(\w+)\s*[=!]~?"/g)].map(([, label]) => label!),
  ...[...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(",").map((label) => label.trim())),
];

const queries = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ title, expr, legendFormat })),
);
const alerts = rules.split("- alert: ").slice(1);

/** The limits of an alert: numbers, or products of them. */
const boundsIn = (alert: string): number[] =>
  [...alert.matchAll(/> ([\d.]+(?: \* \d+)*)/g)].map(([, product]) =>
    product!.split(" * ").reduce((result, factor) => result * Number(factor), 1),
  );

/** Events of webhooks are no lines of the log. */
const isWebhook = (event: string): boolean => ["room.occupied", "room.vacated"].includes(event);

const promtool = (...args: string[]) => spawnSync("promtool", args, { cwd: ROOT, encoding: "utf8" });

describe("scripts/ops/dashboard.json", () => {
  it("has its rows in the order in which one looks, and no panel over another", () => {
    expect(panels.filter(({ type }) => type === "row").map(({ title }) => title)).toEqual([
      "Now",
      "Traffic",
      "Errors",
      "Latency",
      "Relay and queues",
      "Rooms",
      "Sleep and cost",
      "Rules of one's own",
      "Big rooms",
      "Files",
    ]);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(queries.length).toBeGreaterThan(40);
  });

  it.each(queries)("$title: $expr", ({ expr, legendFormat }) => {
    const metrics = metricsIn(expr);
    expect(metrics.length).toBeGreaterThan(0);
    const labels = new Set(metrics.flatMap((metric) => exposed.get(metric) ?? [`no metric ${metric}`]));
    for (const label of labelsIn(expr)) expect(labels).toContain(label);
    for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) expect(labels).toContain(label);
    expect([...labels].filter((label) => label.startsWith("no metric"))).toEqual([]);
  });

  it("ranks rooms by their present values, so that a legend has ten of them and not all that ever were", () => {
    const rankings = queries.filter(({ expr }) => expr.includes("topk("));
    expect(rankings.length).toBeGreaterThan(3);
    for (const { expr } of rankings) expect(expr).toMatch(/topk\(10, .* @ end\(\)\)/);
  });

  it("turns red where the alert that a panel names does", () => {
    const limited = panels.flatMap(({ description = "", fieldConfig }) =>
      [...description.matchAll(/(?:Red|Dashed): (Parley\w+)/g)].map(([, name]) => ({ name: name!, fieldConfig })),
    );
    expect(limited.length).toBeGreaterThan(10);
    for (const { name, fieldConfig } of limited) {
      const red = fieldConfig?.defaults.thresholds?.steps.find(({ color }) => color === "red")?.value;
      const alert = alerts.find((text) => text.startsWith(`${name}\n`)) ?? `no alert ${name}`;
      // For a count, one is the first number beyond none.
      const limits = boundsIn(alert).map((bound) => bound || 1);
      expect({ name, red, isBound: limits.includes(red!) }).toEqual({ name, red, isBound: true });
    }
  });

  it("shows every metric, or the guide explains it", () => {
    const asked = new Set(queries.flatMap(({ expr }) => metricsIn(expr)));
    const families = [...exposed.keys()].map((name) => name.replace(/_(bucket|sum|count)$/, ""));
    const elsewhere = [
      "parley_build_info",
      "parley_lobbies",
      "parley_series_overflow_total",
      "parley_top_room_messages_posted_total",
    ];
    const missing = families.filter((name) => ![...asked].some((metric) => metric.startsWith(name)));
    expect([...new Set(missing)].sort()).toEqual(elsewhere);
  });
});

describe("scripts/ops/alerts.yml", () => {
  it.each(alerts.map((alert) => [alert.split("\n")[0]!, alert] as const))("%s", (name, alert) => {
    for (const metric of metricsIn(alert)) expect([...exposed.keys()]).toContain(metric);
    expect(alert).toMatch(/summary: ./);
    expect(alert).toContain(`runbook: docs/operations.md#${name.toLowerCase()}\n`);
    expect(guide).toContain(`\n### ${name}\n`);
  });

  it("has a runbook for no alert that is not there", () => {
    const sections = [...guide.matchAll(/^### (Parley\w+)$/gm)].map(([, name]) => name!);
    expect(sections.sort()).toEqual(alerts.map((alert) => alert.split("\n")[0]!).sort());
  });

  it("passes promtool check rules, and promtool test rules", (ctx) => {
    const check = promtool("check", "rules", `${OPS}/alerts.yml`);
    ctx.skip(check.error !== undefined, "no promtool on this machine");
    expect(check.stdout + check.stderr).toContain(`SUCCESS: ${alerts.length} rules found`);
    const test = promtool("test", "rules", `${OPS}/alerts.test.yml`);
    expect([test.status, test.stderr]).toEqual([0, ""]);
  });

  it("has a configuration that promtool accepts once the token is there, as the guide makes it", (ctx) => {
    ctx.skip(promtool("--version").error !== undefined, "no promtool on this machine");
    const copy = mkdtempSync(join(tmpdir(), "parley-ops-"));
    cpSync(join(ROOT, OPS), join(copy, OPS), { recursive: true, filter: (file) => !file.endsWith("metrics-token") });
    const [, commands] = /```sh\n(cd scripts\/ops\n.*?)```/s.exec(guide)!;
    const env = { ...process.env, METRICS_TOKEN: "a-token-of-a-test" };
    const { status, stdout, stderr } = spawnSync("sh", ["-ec", commands!], { cwd: copy, env, encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("SUCCESS: prometheus.yml is valid");
    expect(readFileSync(join(copy, OPS, "metrics-token"), "utf8")).toBe(env.METRICS_TOKEN);
    rmSync(copy, { recursive: true });
  });
});

describe("docs/operations.md", () => {
  it("names metrics that are exposed", () => {
    const names = metricsIn(guide).filter((name) => name !== "parley_top_room_");
    const families = new Set([...exposed.keys()].map((name) => name.replace(/_(bucket|sum|count)$/, "")));
    expect(names.filter((name) => !families.has(name))).toEqual([]);
  });

  it("explains every family in its table of metrics", () => {
    const table = guide.slice(guide.indexOf("| metric "), guide.indexOf("## The dashboard"));
    const explained = new Set(metricsIn(table));
    const families = [COUNTERS, GAUGES, HISTOGRAMS].flatMap((kind) => Object.values(kind).map(({ name }) => name));
    const missing = families.filter((name) => !name.startsWith("top_room_") && !explained.has(PREFIX + name));
    expect(missing).toEqual([]);
    expect(table).toContain("`parley_top_room_…{room}`");
  });

  it("gives the columns of a data point in their order", () => {
    const words = [
      "posted",
      "deliveries",
      "frames in",
      "bytes in",
      "frames out",
      "bytes out",
      "opened",
      "requests",
      "rows",
    ];
    const places = words.map((word) => guide.indexOf(word, guide.indexOf("`double4`")));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(guide).toContain(`${3 + USAGE_NAMES.indexOf("wokenByCall") + 1} call or watch`);
  });

  it("knows the log's levels and events", () => {
    for (const level of LOG_LEVELS) expect(guide).toContain(`| ${level} `);
    const events = ["src", "durable"].flatMap((folder) =>
      [
        ...spawnSync("grep", ["-rhoE", '"[a-z]+\\.[a-z]+"', join(ROOT, folder)], { encoding: "utf8" }).stdout.matchAll(
          /"((?:settings|request|file|token|room|lobby|connection)\.[a-z]+)"/g,
        ),
      ].map(([, event]) => event!),
    );
    expect(events.length).toBeGreaterThan(8);
    expect([...new Set(events)].filter((event) => !isWebhook(event) && !guide.includes(`\`${event}\``))).toEqual([]);
  });

  it("has the prices of the estimate", () => {
    expect(PRICES.asOf).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    expect(textOf("docs/cost.md")).toContain(new URL(PRICES.source).hostname);
  });
});
