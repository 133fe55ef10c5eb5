// The users who type at present. In memory only: a notice is over in seconds. A room has one (chat/people), and each of its shards.

/** A notice that is not repeated for so long ends (TYP-2). */
export const TYPING_MS = 5000;

export interface CurrentTyping {
  readonly name: string;
  /** The connection that sent the last notice; its end ends the typing. */
  readonly socketId: string;
  /** Whether the others heard the name: in a large room they do not (TYP-1). */
  readonly isNamed: boolean;
}

export class Typists {
  readonly #byUser = new Map<string, CurrentTyping & { readonly untilMs: number }>();
  #unnamed = 0;

  /** Users whose names the others did not hear. */
  get unnamed(): number {
    return this.#unnamed;
  }

  get isEmpty(): boolean {
    return this.#byUser.size === 0;
  }

  get(user: string): CurrentTyping | undefined {
    return this.#byUser.get(user);
  }

  /** The users whose names the others heard, the first to type first. */
  get named(): Array<{ readonly user: string; readonly name: string }> {
    return [...this.#byUser].flatMap(([user, { name, isNamed }]) => (isNamed ? [{ user, name }] : []));
  }

  /** A user types, or still does. @returns the end of the notice, in milliseconds since 1970 */
  begin(user: string, typing: CurrentTyping, nowMs: number): number {
    const { name, isNamed } = this.#byUser.get(user) ?? typing;
    if (!isNamed && !this.#byUser.has(user)) this.#unnamed++;
    const untilMs = nowMs + TYPING_MS;
    this.#byUser.set(user, { ...typing, name, isNamed, untilMs });
    return untilMs;
  }

  end(user: string): CurrentTyping | undefined {
    const typing = this.#byUser.get(user);
    if (!typing) return undefined;
    this.#byUser.delete(user);
    if (!typing.isNamed) this.#unnamed--;
    return typing;
  }

  /** The users whose notices are over. */
  over(nowMs: number): string[] {
    return [...this.#byUser].filter(([, { untilMs }]) => untilMs <= nowMs).map(([user]) => user);
  }

  /** The end of the next notice, in milliseconds since 1970; `Infinity` while nobody types. */
  get nextMs(): number {
    return Math.min(...Array.from(this.#byUser.values(), ({ untilMs }) => untilMs));
  }
}
