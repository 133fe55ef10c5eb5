// Reports the browser events that concern a connection: online or visible again, offline, into the back/forward cache. Outside a
// browser it reports nothing. Room calls it.

interface Watched {
  /** Back online, in view, or out of the back/forward cache. */
  wake(): void;
  /** The browser believes that the network is gone. */
  probe(): void;
  /** The page goes into the back/forward cache, which takes none with an open connection. */
  suspend(): void;
}

/** @returns a function that ends it */
export function watchPage(connection: Watched): () => void {
  if (typeof window === "undefined" || typeof document === "undefined") return () => {};
  const watching = new AbortController();
  const { signal } = watching;
  window.addEventListener("online", () => connection.wake(), { signal });
  window.addEventListener("offline", () => connection.probe(), { signal });
  window.addEventListener("pageshow", ({ persisted }) => persisted && connection.wake(), { signal });
  window.addEventListener("pagehide", ({ persisted }) => persisted && connection.suspend(), { signal });
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && connection.wake(), {
    signal,
  });
  return () => watching.abort();
}
