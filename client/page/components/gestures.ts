// Touch gestures on messages. A long press opens the sheet of a message. A swipe to the left replies to it; on a right-to-left page, a swipe to
// the right. The other direction is Back in some browsers, so it does nothing here. The message list and the panel of a thread call it on devices
// with touch.
import type { Message } from "parley-rooms/client";
import { render } from "preact";

import type { WritingProps } from "./chat-props.ts";
import { Icon } from "./icons.tsx";
import { LONG_MS, pressed } from "./long-press.ts";
import { messagesOf } from "./row-keys.ts";

/** Up to so many pixels a finger rests. */
const REST_PX = 10;
/** A swipe so long replies when the finger goes up. */
const REPLY_PX = 56;
/** A message follows the finger so far. */
const FAR_PX = 72;
/** A swipe from there belongs to the browser. */
const EDGE_PX = 24;
/** Elements with a press of their own, and words that the reader selects. */
const PRESSED = "a, .reaction, video, audio, input, [data-selectable]";
/** Where a finger moves lines that are too long. */
const SCROLLED = "pre";

interface Touch {
  readonly target: Element;
  readonly row: HTMLElement;
  readonly message: Message;
  readonly x: number;
  readonly y: number;
}

/** @param list none where the room was left before this was loaded */
export function hearGestures(
  list: HTMLElement | null,
  { store, view, composing }: WritingProps,
  signal: AbortSignal,
): void {
  if (!list || signal.aborted) return;
  let touch: Touch | undefined;
  let swipe: Swipe | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const end = (): void => {
    clearTimeout(timer);
    swipe?.end();
    touch = swipe = undefined;
  };
  const openSheet = (): void => {
    const { row, message } = touch!;
    end();
    // The sheet gives it back there.
    row.focus({ preventScroll: true });
    pressed(() => store.set({ menu: { anchor: row, message: message.id, isSheet: true } }));
  };
  const onDown = (event: PointerEvent): void => {
    end();
    touch = event.pointerType === "touch" && event.isPrimary ? touchOf(event) : undefined;
    if (touch) timer = setTimeout(openSheet, LONG_MS);
  };
  const touchOf = ({ target: touched, clientX: x, clientY: y }: PointerEvent): Touch | undefined => {
    const target = touched as Element;
    const row = target.closest<HTMLElement>("li[data-seq]");
    const message = messagesOf(view, composing).find(({ seq }) => String(seq) === row?.dataset["seq"]);
    if (!row || !message || message.deleted || target.closest(PRESSED)) return undefined;
    return { target, row, message, x, y };
  };
  const onMove = ({ clientX, clientY }: PointerEvent): void => {
    if (!touch) return;
    const isLeftwards = getComputedStyle(list).direction === "ltr";
    const [right, down] = [clientX - touch.x, clientY - touch.y];
    const along = isLeftwards ? -right : right;
    if (swipe) return swipe.move(along);
    if (Math.hypot(right, down) < REST_PX) return;
    clearTimeout(timer);
    const fromEdge = isLeftwards ? innerWidth - touch.x : touch.x;
    const isOthers = fromEdge < EDGE_PX || touch.target.closest(SCROLLED);
    if (along > Math.abs(down) && !isOthers && view.store.abilitiesOf(touch.message).reply) {
      swipe = new Swipe(touch.row, isLeftwards);
      // It may be the only move that a slow phone tells of.
      swipe.move(along);
    } else touch = undefined;
  };
  const onUp = (): void => {
    const isReply = swipe?.isFar && touch;
    if (isReply) composing.writing.reply(isReply.message.id);
    end();
  };
  const onContextMenu = (event: Event): void => {
    // Of a finger: a browser may take its press for long before this does.
    if (!touch) return;
    event.preventDefault();
    openSheet();
  };

  list.addEventListener("pointerdown", onDown, { signal });
  list.addEventListener("pointermove", onMove, { signal });
  list.addEventListener("pointerup", onUp, { signal });
  // The browser scrolls.
  list.addEventListener("pointercancel", end, { signal });
  list.addEventListener("contextmenu", onContextMenu, { signal });
  signal.addEventListener("abort", end);
}

/** A message that follows the finger, with the sign of a reply beside it. */
class Swipe {
  readonly #row: HTMLElement;
  readonly #hint = document.createElement("span");
  readonly #isLeftwards: boolean;
  #px = 0;

  constructor(row: HTMLElement, isLeftwards: boolean) {
    this.#row = row;
    this.#isLeftwards = isLeftwards;
    this.#hint.className = "swipe-hint";
    render(Icon({ name: "reply" }), this.#hint);
    row.append(this.#hint);
  }

  get isFar(): boolean {
    return this.#px >= REPLY_PX;
  }

  get #moved(): string {
    return `${this.#isLeftwards ? -this.#px : this.#px}px`;
  }

  move(px: number): void {
    this.#px = Math.min(FAR_PX, Math.max(0, px));
    this.#hint.classList.toggle("far", this.isFar);
    this.#hint.style.opacity = String(Math.min(1, this.#px / REPLY_PX));
    if (!isStill()) this.#row.style.translate = this.#moved;
  }

  end(): void {
    this.#hint.remove();
    this.#row.style.translate = "";
    if (!isStill()) this.#row.animate({ translate: [this.#moved, "0"] }, { duration: 150, easing: "ease-out" });
  }
}

const isStill = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;
