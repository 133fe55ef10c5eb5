// Counts what each user has under way of something that takes memory while it lasts: bodies on their way in (FILE-7, API-11). Each
// isolate counts by itself. Called by the calls of the HTTP API.

export class UnderWay {
  readonly #max: number;
  readonly #counts = new Map<string, number>();

  /** @param max at a time and user */
  constructor(max: number) {
    this.#max = max;
  }

  /** @returns what ends it, to be called once; nothing where the user has as much under way as may be */
  begin(user: string): (() => void) | undefined {
    const count = this.#counts.get(user) ?? 0;
    if (count >= this.#max) return undefined;
    this.#counts.set(user, count + 1);
    return () => this.#end(user);
  }

  #end(user: string): void {
    const count = this.#counts.get(user)! - 1;
    if (count > 0) this.#counts.set(user, count);
    else this.#counts.delete(user);
  }
}
