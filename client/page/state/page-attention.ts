// Asks a large room for counts in place of messages while the page is out of view (ATT-1). The chat store makes it.
import type { RoomView } from "./room-view.ts";

/** A reader who looks at another tab for a moment misses nothing. */
const OUT_OF_VIEW_MS = 20_000;

export class PageAttention {
  readonly #view: () => RoomView | undefined;
  readonly #watching = new AbortController();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(view: () => RoomView | undefined) {
    this.#view = view;
    document.addEventListener("visibilitychange", () => this.#onVisibility(), { signal: this.#watching.signal });
    if (document.visibilityState === "hidden") this.#watch();
  }

  close(): void {
    this.#watching.abort();
    clearInterval(this.#timer);
  }

  #onVisibility(): void {
    clearInterval(this.#timer);
    if (document.visibilityState === "visible") void this.#view()?.store.attend("all");
    else this.#watch();
  }

  /** Looks again and again: the room may grow meanwhile, or the page enter another one. */
  #watch(): void {
    this.#timer = setInterval(() => this.#leave(), OUT_OF_VIEW_MS);
  }

  #leave(): void {
    const view = this.#view();
    const { welcome, presence } = view?.state ?? {};
    const isCrowd = welcome && presence && presence.count > (welcome.settings.crowdMembers ?? Infinity);
    if (isCrowd) void view?.store.attend("counts");
  }
}
