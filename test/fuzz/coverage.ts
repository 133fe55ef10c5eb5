// Collects the pieces of this project's code that have run, as V8 counts them: an input that reaches a new piece is kept.
// Called by loop.ts.
// Source: https://nodejs.org/api/inspector.html, https://chromedevtools.github.io/devtools-protocol/tot/Profiler/
import { Session, type Profiler } from "node:inspector";

const OWN_CODE = /^file:.*\/(src|client|durable)\//;

export class Coverage {
  readonly #session = new Session();
  readonly #known = new Set<string>();

  constructor() {
    this.#session.connect();
    this.#session.post("Profiler.enable");
    this.#session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  }

  /** Pieces known so far. */
  get size(): number {
    return this.#known.size;
  }

  /** Forgets the code that has run since the last look. */
  skip(): void {
    this.#take();
  }

  /** @returns whether something ran since the last look that never ran before */
  grew(): boolean {
    return this.#take().length > 0;
  }

  /** The same as `grew`, and remembers it. */
  learn(): boolean {
    const fresh = this.#take();
    for (const piece of fresh) this.#known.add(piece);
    return fresh.length > 0;
  }

  #take(): string[] {
    let result: Profiler.ScriptCoverage[] = [];
    // Within one thread the answer is there when `post` returns.
    this.#session.post("Profiler.takePreciseCoverage", (_error, taken) => (result = taken.result));
    return result
      .filter(({ url }) => OWN_CODE.test(url))
      .flatMap(({ scriptId, functions }) =>
        functions.flatMap(({ ranges }) =>
          ranges.filter(({ count }) => count > 0).map((range) => pieceOf(scriptId, range)),
        ),
      )
      .filter((piece) => !this.#known.has(piece));
  }

  stop(): void {
    this.#session.post("Profiler.stopPreciseCoverage");
    this.#session.disconnect();
  }
}

function pieceOf(scriptId: string, { startOffset, endOffset }: Profiler.CoverageRange): string {
  return `${scriptId}:${startOffset}:${endOffset}`;
}
