// Turns the samples of compare-workerd into one line per version: medians, spreads and the ratio to the best.
import { median, spreadOf } from "../measuring/statistics.ts";
import type { Reading } from "./generator.ts";

export type Mode = "single" | "batched";
export interface Sample extends Reading {
  version: string;
  mode: Mode;
  round: number;
}

const KB = 1024;

export function perCpuSecond(sample: Reading): number {
  return sample.deliveries / sample.serverCpuSeconds;
}

export function summarize(version: string, samples: Sample[]) {
  const own = samples.filter((sample) => sample.version === version);
  const speeds = (mode: Mode) => own.filter((sample) => sample.mode === mode).map(perCpuSecond);
  return {
    version,
    single: spreadOf(speeds("single")),
    batched: spreadOf(speeds("batched")),
    kilobytesPerSocket: median(own.map((sample) => sample.bytesPerSocket)) / KB,
    filesPerSocket: median(own.map((sample) => sample.filesPerSocket)),
  };
}

type Summary = ReturnType<typeof summarize>;

export function table(summaries: Summary[]): string {
  const best = (mode: Mode) => Math.max(...summaries.map((summary) => summary[mode].median));
  const cell = (summary: Summary, mode: Mode) => {
    const { median: middle, min, max } = summary[mode];
    const [m, low, high] = [middle, min, max].map((speed) => Math.round(speed / 1000));
    return `${m}k [${low}-${high}] | ${(middle / best(mode)).toFixed(2)}`;
  };
  const rows = summaries.map(
    (summary) =>
      `| ${summary.version} | ${cell(summary, "single")} | ${cell(summary, "batched")} ` +
      `| ${summary.filesPerSocket.toFixed(1)} | ${Math.round(summary.kilobytesPerSocket)} |`,
  );
  return [
    "| workerd | single: deliveries / CPU-s | ratio | batched 20 ms: deliveries / CPU-s | ratio | files / socket | KB / socket |",
    "|---|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}
