// What components share: a clock to draw by, and whether the browser has a network.
import { useEffect, useState } from "preact/hooks";

/** The time, drawn again every so often; 0 for never. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (everyMs === 0) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

export function useOnline(): boolean {
  const [isOnline, setOnline] = useState(() => navigator.onLine);
  useEffect(() => {
    const watching = new AbortController();
    const { signal } = watching;
    for (const event of ["online", "offline"]) addEventListener(event, () => setOnline(navigator.onLine), { signal });
    return () => watching.abort();
  }, []);
  return isOnline;
}
