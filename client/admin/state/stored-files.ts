// The stored files that the operator page lists. The admin store owns it.
import type { Problem } from "./admin-api.ts";
import type { StoredFiles as Page } from "./answers.ts";
import type { DeadLettersPorts } from "./dead-letters.ts";

export class StoredFiles {
  page: Page | undefined;
  problem: Problem | undefined;
  readonly #ports: Pick<DeadLettersPorts, "api" | "failed" | "changed">;

  constructor(ports: Pick<DeadLettersPorts, "api" | "failed" | "changed">) {
    this.#ports = ports;
  }

  /** Loads the list again, or the page behind the files that are shown. */
  async load({ isMore = false } = {}): Promise<void> {
    const shown = isMore ? (this.page?.files ?? []) : [];
    const page = await this.#ports.api()?.files(shown.at(-1)?.key);
    if (!page) return;
    if (!page.ok)
      return this.#ports.failed(page.problem, (problem) => {
        this.problem = problem;
        this.#ports.changed();
      });
    this.page = { ...page.value, files: [...shown, ...page.value.files] };
    this.problem = undefined;
    this.#ports.changed();
  }

  clear(): void {
    this.page = undefined;
    this.problem = undefined;
  }
}
