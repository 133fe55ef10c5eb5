// Asks a large room for counts in place of messages while the page is out of view (ATT-1). The app draws it, without anything to see.
import { useEffect } from "preact/hooks";

import type { ViewProps } from "./chat-props.ts";

/** A reader who looks at another tab for a moment misses nothing. */
const OUT_OF_VIEW_MS = 20_000;

export function PageAttention({ view }: ViewProps) {
  useEffect(() => {
    const leaving = new AbortController();
    let timer: ReturnType<typeof setInterval> | undefined;
    const leave = (): void => {
      const { welcome, presence } = view.state;
      if (welcome && presence.count > (welcome.settings.crowdMembers ?? Infinity)) void view.store.attend("counts");
    };
    const look = (): void => {
      clearInterval(timer);
      if (document.visibilityState === "visible") void view.store.attend("all");
      // Again and again: the room may grow meanwhile.
      else timer = setInterval(leave, OUT_OF_VIEW_MS);
    };
    document.addEventListener("visibilitychange", look, { signal: leaving.signal });
    look();
    return () => {
      leaving.abort();
      clearInterval(timer);
    };
  }, [view]);
  return null;
}
