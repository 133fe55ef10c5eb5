// Prints the progress of a run: bars with live percentiles on a terminal, plain lines elsewhere. Made by load.ts; run.ts tells it.
import { SingleBar } from "cli-progress";

import type { SecondRow } from "./reading.ts";

const LINE_MS = 5000;

export interface Progress {
  connecting(connected: number, users: number): void;
  posting(seconds: number, durationSeconds: number, latest: SecondRow | undefined): void;
  waiting(what: string): void;
  end(): void;
}

const nothing = (): void => undefined;
export const SILENT: Progress = { connecting: nothing, posting: nothing, waiting: nothing, end: nothing };

export function progressOn(stream: NodeJS.WriteStream): Progress {
  return stream.isTTY ? new Bars(stream) : new Lines(stream);
}

function liveOf(row: SecondRow | undefined): string {
  if (!row) return "";
  const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0);
  return (
    `${row.connected} in, ${row.posts} posts/s, ${row.deliveries} deliveries/s, ` +
    `p50 ${ms(row.p50Ms)} p95 ${ms(row.p95Ms)} p99 ${ms(row.p99Ms)} ms${row.errors > 0 ? `, ${row.errors} errors` : ""}`
  );
}

class Bars implements Progress {
  readonly #stream: NodeJS.WriteStream;
  #bar: SingleBar | undefined;
  #title = "";

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  connecting(connected: number, users: number): void {
    this.#show("connecting", connected, users, `${connected}/${users}`);
  }

  posting(seconds: number, durationSeconds: number, latest: SecondRow | undefined): void {
    this.#show("posting", Math.min(seconds, durationSeconds), durationSeconds, liveOf(latest));
  }

  waiting(what: string): void {
    this.#show(`waiting for ${what}`, 1, 1, "");
  }

  #show(title: string, value: number, total: number, live: string): void {
    if (title !== this.#title) {
      this.end();
      this.#title = title;
      const format = `${title.padEnd(12)} {bar} {live}`;
      this.#bar = new SingleBar({ format, stream: this.#stream, barsize: 24, hideCursor: true, gracefulExit: false });
      this.#bar.start(total, 0, { live });
    }
    this.#bar?.update(value, { live });
  }

  end(): void {
    this.#bar?.stop();
    this.#bar = undefined;
    this.#title = "";
  }
}

class Lines implements Progress {
  readonly #stream: NodeJS.WriteStream;
  #nextAtMs = 0;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  connecting(connected: number, users: number): void {
    this.#say(`connecting: ${connected}/${users}`);
  }

  posting(seconds: number, durationSeconds: number, latest: SecondRow | undefined): void {
    this.#say(`posting: ${Math.trunc(seconds)}/${durationSeconds} s, ${liveOf(latest)}`);
  }

  waiting(what: string): void {
    this.#say(`waiting for ${what}`);
  }

  #say(text: string): void {
    if (Date.now() < this.#nextAtMs) return;
    this.#nextAtMs = Date.now() + LINE_MS;
    this.#stream.write(`${text}\n`);
  }

  end = nothing;
}
