// On a phone, Back closes what lies over the page: a list, a panel, a menu, a dialog. Each such layer has an entry of the browser's
// history, which goes with it however it is closed. The entries of the chat page and the operator page use it; an embed leaves the
// history to the page around it.

const PHONE = "(max-width: 48rem), (pointer: coarse)";

/** Whether a panel lies over the messages, as on a phone. */
export const coversMessages = (): boolean => matchMedia("(max-width: 48rem)").matches;

interface LayersPorts {
  /** How many layers are open. */
  readonly count: () => number;
  /** Closes the upper layers until that many are left. */
  readonly closeTo: (count: number) => void;
}

export class Layers {
  readonly #ports: LayersPorts;
  /** Where the page goes as soon as the history is at the lowest layer. */
  #address: string | undefined;
  /** Whether `popstate` will come from here, not from the reader. */
  #isTravelling = false;

  constructor(ports: LayersPorts) {
    this.#ports = ports;
    addEventListener("popstate", () => this.#onPopState());
  }

  /** Gives the page another address. Back leads to the one before, past all layers. */
  go(address: string): void {
    this.#address = address;
    this.follow();
  }

  /** Call it after each change: makes the entries as many as the layers. */
  follow(): void {
    if (this.#isTravelling) return;
    const address = isHere(this.#address) ? undefined : this.#address;
    this.#address = address;
    const entries = entriesHere();
    const wanted = address === undefined ? this.#open : Math.min(entries, 1);
    if (entries > wanted) {
      this.#isTravelling = true;
      history.go(wanted - entries);
    } else if (address !== undefined) {
      // A layer's entry is replaced: the entry below it has the address before.
      if (entries === 0) history.pushState(null, "", address);
      else history.replaceState(null, "", address);
      this.follow();
    } else for (let layers = entries + 1; layers <= wanted; layers++) history.pushState({ layers }, "");
  }

  get #open(): number {
    return matchMedia(PHONE).matches ? this.#ports.count() : 0;
  }

  #onPopState(): void {
    const entries = entriesHere();
    if (!this.#isTravelling && entries < this.#open) this.#ports.closeTo(entries);
    this.#isTravelling = false;
    // After a reload, or with Forward, the reader may come to the entry of a layer that is closed.
    this.follow();
  }
}

/** How many layers the entry on the screen stands for. */
function entriesHere(): number {
  const { layers } = (history.state ?? {}) as { readonly layers?: unknown };
  return typeof layers === "number" ? layers : 0;
}

const isHere = (address: string | undefined): boolean =>
  address !== undefined && new URL(address, location.href).href === location.href;
