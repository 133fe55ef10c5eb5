// Reports the browser events that concern a connection: online or visible again, offline, into the back/forward cache. Outside a
// browser it reports nothing. Room calls it.

interface LifecycleListener {
  /** Back online, in view, or out of the back/forward cache. */
  readonly wake: () => void;
  /** The browser believes that the network is gone. */
  readonly doubt: () => void;
  /** The page goes into the back/forward cache, which takes none with an open connection. */
  readonly suspend: () => void;
}

/** @returns a function that ends it */
export function watchPage({ wake, doubt, suspend }: LifecycleListener): () => void {
  if (typeof window === "undefined" || typeof document === "undefined") return () => {};
  const watching = new AbortController();
  const { signal } = watching;
  window.addEventListener("online", wake, { signal });
  window.addEventListener("offline", doubt, { signal });
  window.addEventListener("pageshow", ({ persisted }) => persisted && wake(), { signal });
  window.addEventListener("pagehide", ({ persisted }) => persisted && suspend(), { signal });
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && wake(), { signal });
  return () => watching.abort();
}
