// Reads and writes JSON values in a browser storage that may be blocked or full. All stored state of the page goes through it.
/** Shared by all tabs of this browser. */
export const local = (): Storage => localStorage;
/** Goes when the tab is closed. */
export const ofTab = (): Storage => sessionStorage;

/** The key of a value of one chat: chats at different paths of one server share a storage. @param base the chat's address */
export function keyAt(base: string, name: string): string {
  const path = base.slice(new URL(base).origin.length);
  return path === "" ? name : `${name} ${path}`;
}

export function keysOf(storage: () => Storage, prefix: string): string[] {
  try {
    return Object.keys(storage()).filter((key) => key.startsWith(prefix));
  } catch {
    return [];
  }
}

/** A value of which only the fields are known that it should have. */
export type Unchecked<Type> = { readonly [Key in keyof Type]?: unknown };

/** `undefined` when nothing usable is there; the caller checks the shape. */
export function readJson(storage: () => Storage, key: string): unknown {
  try {
    return JSON.parse(storage().getItem(key) ?? "null") ?? undefined;
  } catch {
    // Blocked by the browser's settings, or not ours: the page works without.
    return undefined;
  }
}

/** Without a value nothing stays. */
export function keep(storage: () => Storage, key: string, value: unknown): void {
  try {
    if (value === undefined) storage().removeItem(key);
    else storage().setItem(key, JSON.stringify(value));
  } catch {
    // Blocked or full: the page works without.
  }
}
