// The dead letters that the operator page shows, to replay or to discard. The admin store owns it.
import type { AdminApi, Problem, Result } from "./admin-api.ts";
import type { Letters } from "./answers.ts";

export interface DeadLettersPorts {
  /** Nothing while the page is signed out. */
  readonly api: () => AdminApi | undefined;
  /** Shows a problem, or ends the sign-in because of it. */
  readonly failed: (problem: Problem, show: (problem: Problem) => void) => void;
  /** Waits for an action, and shows its result or its problem. */
  readonly act: <Value>(
    doing: Promise<Result<Value>> | undefined,
    describe: (value: Value) => string,
  ) => Promise<unknown>;
  readonly changed: () => void;
}

export class DeadLetters {
  page: Letters | undefined;
  problem: Problem | undefined;
  readonly #ports: DeadLettersPorts;

  constructor(ports: DeadLettersPorts) {
    this.#ports = ports;
  }

  /** Loads the list again, or the page behind a letter. */
  async load(after?: number): Promise<void> {
    const page = await this.#ports.api()?.letters(after);
    if (!page) return;
    if (!page.ok)
      return this.#ports.failed(page.problem, (problem) => {
        this.problem = problem;
        this.#ports.changed();
      });
    const before = after === undefined ? [] : (this.page?.letters ?? []);
    this.page = { ...page.value, letters: [...before, ...page.value.letters] };
    this.problem = undefined;
    this.#ports.changed();
  }

  /** @param ids absent: the oldest ones */
  async replay(ids?: readonly number[]): Promise<void> {
    await this.#ports.act(this.#ports.api()?.replay(ids), ({ replayed, failed }) => {
      const [first] = failed;
      const moved = `${replayed.length} delivered`;
      return first ? `${moved}, ${failed.length} kept: ${first.reason}` : moved;
    });
    await this.load();
  }

  async discard(id: number): Promise<void> {
    await this.#ports.act(this.#ports.api()?.discard(id), () => "The dead letter was discarded");
    await this.load();
  }

  clear(): void {
    this.page = undefined;
    this.problem = undefined;
  }
}
