// The types between a room view and its owner (page or embed): the states it reports and the functions it needs.

export type Connection =
  | { readonly kind: "connecting" }
  | { readonly kind: "connected"; readonly isBack: boolean }
  /** `code` as in CONNECT_ERROR or the last notice; empty where there was none. */
  | { readonly kind: "offline" | "stopped"; readonly code: string; readonly message: string };

export interface TokenSource {
  readonly current: () => Promise<string> | string;
  /** Replaces a refused token; rejects with `TokenNeeded` when only the reader can. */
  readonly renew: () => Promise<unknown>;
}

export interface RoomViewHooks {
  /** Something that is shown has changed. */
  readonly changed: () => void;
  /** Something happened that a reader who cannot see the page should hear of. */
  readonly announce: (text: string) => void;
}
