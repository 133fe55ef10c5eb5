// The interface of a fuzz target: one reader of untrusted input, with examples and checks.

export interface Target {
  readonly name: string;
  /** Inputs as they should be: mutation begins with these, and with the kept corpus. Bytes are one character each. */
  readonly seeds: readonly string[];
  /** Pieces that mean something to the reader. */
  readonly words: readonly string[];
  /** Reads one input. @throws Error when a check fails; a refused input is no failure */
  readonly run: (input: string) => void | Promise<void>;
}

/** @throws Error */
export function must(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what);
}

/** Compares plain values. @throws Error */
export function mustEqual(found: unknown, expected: unknown, what: string): void {
  const [a, b] = [textOf(found), textOf(expected)];
  must(a === b, `${what}: ${a} and not ${b}`);
}

function textOf(value: unknown): string {
  // In a list, because nothing alone has no text.
  return JSON.stringify([value], (_key, item: unknown) => (item instanceof Uint8Array ? { bytes: [...item] } : item));
}

export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (char) => char.charCodeAt(0) & 0xff);
}
