// Prints the progress of a run: bars with live percentiles on a terminal, plain lines elsewhere. Made by load.ts; run.ts tells it.
import { SingleBar } from "cli-progress";

import type { SecondRow } from "./reading.ts";

const LINE_MS = 5000;

export interface Progress {
  /** @param live what there is to say just now */
  show(phase: string, value: number, total: number, live: string): void;
  end(): void;
}

const nothing = (): void => undefined;
export const SILENT: Progress = { show: nothing, end: nothing };

export function progressOn(stream: NodeJS.WriteStream): Progress {
  return stream.isTTY ? barsOn(stream) : linesOn(stream);
}

/** Begins with the seconds, and goes on with the latest row. */
export function liveOf(seconds: number, durationSeconds: number, latest: SecondRow | undefined): string {
  const begin = `${Math.trunc(seconds)}/${durationSeconds} s`;
  if (!latest) return begin;
  const { connected, posts, deliveries, p50Ms, p95Ms, p99Ms, errors } = latest;
  const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0);
  return (
    `${begin}, ${connected} in, ${posts} posts/s, ${deliveries} deliveries/s, ` +
    `p50 ${ms(p50Ms)} p95 ${ms(p95Ms)} p99 ${ms(p99Ms)} ms${errors > 0 ? `, ${errors} errors` : ""}`
  );
}

/** A bar for each phase. */
function barsOn(stream: NodeJS.WriteStream): Progress {
  let [bar, shown]: [SingleBar | undefined, string] = [undefined, ""];
  const end = (): void => {
    bar?.stop();
    [bar, shown] = [undefined, ""];
  };
  return {
    show(phase, value, total, live) {
      if (phase !== shown) {
        end();
        shown = phase;
        const format = `${phase.padEnd(12)} {bar} {live}`;
        bar = new SingleBar({ format, stream, barsize: 24, hideCursor: true, gracefulExit: false });
        bar.start(total, 0, { live });
      }
      bar?.update(Math.min(value, total), { live });
    },
    end,
  };
}

function linesOn(stream: NodeJS.WriteStream): Progress {
  let nextAtMs = 0;
  return {
    show(phase, _value, _total, live) {
      if (Date.now() < nextAtMs) return;
      nextAtMs = Date.now() + LINE_MS;
      stream.write(`${live === "" ? phase : `${phase}: ${live}`}\n`);
    },
    end: nothing,
  };
}
