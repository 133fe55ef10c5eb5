// The two forms of a Wrangler configuration, as adding to one needs them. Implemented by jsonc.ts and toml.ts; called by
// config-file.ts. Both only insert, so comments, order and spelling of a file stay as they are. jsonc-parser's own `modify` and
// TOML patchers rewrite neighbours and move comments.

/** A value that is added to a configuration. */
export type Value = string | number | boolean | readonly Value[] | { readonly [key: string]: Value };

/** The keys that lead to a value. */
export type Path = readonly string[];

export interface ConfigFormat {
  /** @throws Error that says where the text is wrong */
  parse(text: string): Record<string, unknown>;
  /** @returns the text with an item at the end of the list at `path`, which is made where there is none */
  append(text: string, path: Path, item: Value): string;
  /** @returns the text with a value at `path`, where there is none yet */
  set(text: string, path: Path, value: Value): string;
}

/** The line ends of a text: those of Windows, where it has any. */
export const lineEndOf = (text: string): string => (text.includes("\r\n") ? "\r\n" : "\n");

/** The end of the line on which a place is, in front of its line end. */
export function endOfLine(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  if (end < 0) return text.length;
  return text[end - 1] === "\r" && end > at ? end - 1 : end;
}

/** The spaces and tabs that the line of a place begins with. */
export function indentAt(text: string, at: number): string {
  const begin = text.lastIndexOf("\n", at - 1) + 1;
  return /^[ \t]*/.exec(text.slice(begin, at))![0];
}

export const insertAt = (text: string, at: number, what: string): string => text.slice(0, at) + what + text.slice(at);
