// Writes metrics as Prometheus reads them: text format 0.0.4. Called by the route of `GET /metrics`.
// Source: https://prometheus.io/docs/instrumenting/exposition_formats/
import { BUCKETS, type HistogramName } from "./buckets.ts";
import {
  COUNTERS,
  GAUGES,
  HISTOGRAMS,
  PREFIX,
  TOP_COUNTERS,
  type CounterFamily,
  type CounterName,
  type Family,
  type GaugeName,
  type TopCounterName,
} from "./families.ts";
import type { Counts } from "./meter.ts";

export const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** One number, with the values of its family's labels in their order. */
export interface Sample {
  readonly labels?: readonly string[];
  readonly value: number;
}

export interface Exposed {
  readonly totals: Counts;
  readonly gauges: Readonly<Partial<Record<GaugeName, readonly Sample[]>>>;
  readonly top: Readonly<Partial<Record<TopCounterName, readonly Sample[]>>>;
}

/** @returns every family with its HELP and TYPE; one without samples shows these two alone */
export function expose({ totals, gauges, top }: Exposed): string {
  const samples = byFamily(totals);
  const lines: string[] = [];
  for (const [key, family] of Object.entries(GAUGES)) {
    lines.push(...head(family, "gauge"), ...samplesOf(family, gauges[key as GaugeName] ?? []));
  }
  for (const [key, family] of Object.entries<CounterFamily>(COUNTERS)) {
    const counted = samples.get(key) ?? [];
    lines.push(...head(family, "counter"), ...samplesOf(family, [...uncounted(family, counted), ...counted]));
  }
  for (const [key, family] of Object.entries<CounterFamily>(TOP_COUNTERS)) {
    lines.push(...head(family, "counter"), ...samplesOf(family, top[key as TopCounterName] ?? []));
  }
  for (const [key, family] of Object.entries(HISTOGRAMS)) {
    lines.push(...head(family, "histogram"), ...bucketsOf(key as HistogramName, family, totals));
  }
  return `${lines.join("\n")}\n`;
}

/** Series that were never counted show 0, where their labels are known beforehand. A family without labels has one series. */
function uncounted({ labels, always = labels ? [] : [[]] }: CounterFamily, counted: readonly Sample[]): Sample[] {
  const known = new Set(counted.map((sample) => (sample.labels ?? []).join()));
  return always.filter((values) => !known.has(values.join())).map((values) => ({ labels: values, value: 0 }));
}

/** Leaves out series of families that this version does not know. */
function byFamily(totals: Counts): Map<string, Sample[]> {
  const families = new Map<string, Sample[]>();
  for (const [series, value] of Object.entries(totals)) {
    const [key, labels] = partsOf(series);
    const family: CounterFamily | undefined = Object.hasOwn(COUNTERS, key) ? COUNTERS[key as CounterName] : undefined;
    if (!family || labels.length !== (family.labels?.length ?? 0)) continue;
    const samples = families.get(key) ?? [];
    samples.push({ labels, value });
    families.set(key, samples);
  }
  return families;
}

function partsOf(series: string): [key: string, labels: readonly string[]] {
  const colon = series.indexOf(":");
  return colon === -1 ? [series, []] : [series.slice(0, colon), series.slice(colon + 1).split(",")];
}

const head = ({ name, help }: CounterFamily, type: string): string[] => [
  `# HELP ${PREFIX}${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}`,
  `# TYPE ${PREFIX}${name} ${type}`,
];

function samplesOf({ name, labels: names = [], scale = 1 }: CounterFamily, samples: readonly Sample[]): string[] {
  return samples.map(({ labels = [], value }) => {
    const pairs = names.map((label, i) => `${label}="${escape(labels[i]!)}"`);
    return `${PREFIX}${name}${pairs.length > 0 ? `{${pairs.join(",")}}` : ""} ${numberOf(value * scale)}`;
  });
}

/** Buckets are cumulative. */
function bucketsOf(key: HistogramName, { name }: Family, totals: Counts): string[] {
  let count = 0;
  const lines = [...BUCKETS[key].map(String), "+Inf"].map((bound, place) => {
    count += totals[`${key}:${place}`] ?? 0;
    return `${PREFIX}${name}_bucket{le="${bound}"} ${count}`;
  });
  return [...lines, `${PREFIX}${name}_sum ${numberOf(totals[`${key}:sum`] ?? 0)}`, `${PREFIX}${name}_count ${count}`];
}

const escape = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");

/** Without the noise that adding fractions brings. */
const numberOf = (value: number): string => String(Number(value.toPrecision(15)));
