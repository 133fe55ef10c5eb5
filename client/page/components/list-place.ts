// The reader's place in the message list: measures heights, and keeps in place the row that the reader looks at or has focused.
// The message list calls it.
import type { RowLayout } from "../state/row-layout.ts";
import type { Row } from "../state/rows.ts";

/** Pixels beyond the view that are drawn as well: more than the usual step of a wheel, or rows would come into view before they are drawn. */
export const OVERSCAN = 800;
/** Less than this is no movement: browsers round `scrollTop` to pixels of the screen. */
const MOVEMENT_PX = 0.5;
/** A reader who scrolls down to so many pixels above the end is at the end. */
const END_PX = 24;

/** The row that the reader looks at, and its distance below the upper edge of the view. */
interface Anchor {
  readonly key: string;
  readonly offset: number;
}

export class Place {
  /** Counts changes of the heights. */
  version = 0;
  readonly heights = new Map<string, number>();
  anchor: Anchor | undefined;
  /** The size of the view when the list was placed last; empty while it is hidden. */
  size = "";
  /** The last known `scrollTop`; a difference from it is a movement of the reader. */
  top = 0;
  target: object | undefined;
  /** Whether the target is where the reader stood when they left the room. */
  isBack = false;
  /** The state in which the list was placed last. */
  settled: readonly unknown[] = [];
  /** The element in the list that had the focus last. */
  focus: Element | undefined;

  /** Smaller changes are not noted, so that they add up to a movement. */
  heard(scrollTop: number): void {
    if (Math.abs(scrollTop - this.top) >= MOVEMENT_PX) this.top = scrollTop;
  }
}

/** Changes with the window, the composer and the side panels. */
export const sizeOf = ({ clientWidth, clientHeight }: HTMLElement): string => `${clientWidth} ${clientHeight}`;

/** A list without a height is hidden by its page. */
export const isShown = (scroller: HTMLElement): boolean => scroller.clientHeight > 0;

/** @param index where the anchor is; without it, the list stands at its end */
export function topOf(
  layout: RowLayout,
  anchor: Anchor | undefined,
  index: number | undefined,
  viewHeight: number,
): number {
  const lowest = Math.max(0, layout.height - viewHeight);
  if (!anchor || index === undefined) return lowest;
  return Math.min(lowest, Math.max(0, layout.topOf(index) - anchor.offset));
}

/** The row that Tab leads to: the focused one, otherwise the last one in view. */
export function tabStopOf(drawn: readonly Row[], focused: string, lastInView: Row | undefined): string | undefined {
  if (drawn.some(({ key }) => key === focused)) return focused;
  const end = lastInView ? drawn.indexOf(lastInView) + 1 : drawn.length;
  return drawn.slice(0, end).findLast(({ kind }) => kind === "message" || kind === "outgoing")?.key;
}

/** @returns whether the height of a row differs from the known or guessed one */
export function measure(list: HTMLElement, heights: Map<string, number>): boolean {
  let isChanged = false;
  for (const child of list.children) {
    const key = (child as HTMLElement).dataset["key"]!;
    const { height } = child.getBoundingClientRect();
    if (Math.abs((heights.get(key) ?? -1) - height) < 0.5) continue;
    heights.set(key, height);
    isChanged = true;
  }
  return isChanged;
}

/**
 * A list that is hidden or resized scrolls by itself: the composer resizes it while the reader writes and sends.
 * @returns how far the reader has scrolled since the last known place; downwards is positive
 */
export function movementOf(scroller: HTMLElement, { top, size }: Place): number {
  if (sizeOf(scroller) !== size) return 0;
  // The browser itself takes back a scroll beyond the end.
  const lowest = lowestOf(scroller);
  const moved = Math.min(scroller.scrollTop, lowest) - Math.min(top, lowest);
  return Math.abs(moved) < MOVEMENT_PX ? 0 : moved;
}

/**
 * Any movement upwards leaves the newest message, however small it is: a trackpad begins with a few pixels.
 * @returns whether the list follows the newest message after this movement of the reader
 */
export function isFollowing(scroller: HTMLElement, moved: number, wasFollowing: boolean): boolean {
  if (moved < 0) return false;
  const left = lowestOf(scroller) - scroller.scrollTop;
  return wasFollowing || left < (moved > 0 ? END_PX + 1 : 1);
}

export const isAtEnd = (scroller: HTMLElement): boolean => lowestOf(scroller) - scroller.scrollTop < 1;

/**
 * The first message in view, which new rows do not move. Beyond the drawn rows, whose places are measured, the nearest of them
 * that stays drawn; the place of any other is guessed.
 */
export function anchorAt(
  layout: RowLayout,
  rows: readonly Row[],
  scroller: HTMLElement,
  list: HTMLElement,
): Anchor | undefined {
  const { top } = scroller.getBoundingClientRect();
  let anchor: Anchor | undefined;
  for (const row of list.querySelectorAll<HTMLElement>("[data-seq]")) {
    const box = row.getBoundingClientRect();
    const offset = box.top - top;
    if (offset >= OVERSCAN) break;
    if (box.bottom > top - OVERSCAN) anchor = { key: row.dataset["key"]!, offset };
    if (box.bottom > top) break;
  }
  if (anchor) return anchor;
  const { scrollTop } = scroller;
  let index = layout.at(scrollTop);
  // Days and lines between messages come and go.
  while (index < rows.length - 1 && rows[index]!.kind !== "message") index++;
  const row = rows[index];
  return row && { key: row.key, offset: layout.topOf(index) - scrollTop };
}

const lowestOf = ({ scrollHeight, clientHeight }: HTMLElement): number => Math.max(0, scrollHeight - clientHeight);

/** Restores the place of the reader after the rows or the size of the list have changed. */
export function settle(scroller: HTMLElement, list: HTMLElement, place: Place, following: boolean): void {
  place.size = sizeOf(scroller);
  if (following) scroller.scrollTop = scroller.scrollHeight;
  else {
    const { anchor } = place;
    const at = anchor && offsetOf(scroller, list, anchor.key);
    if (at === undefined) return;
    const moved = at - anchor!.offset;
    if (Math.abs(moved) >= 1) scroller.scrollTop += moved;
  }
  place.top = scroller.scrollTop;
}

/** @returns how far below the upper edge of the view a row begins; nothing for one that is not drawn */
function offsetOf(scroller: HTMLElement, list: HTMLElement, key: string): number | undefined {
  const row = list.querySelector(`[data-key="${CSS.escape(key)}"]`);
  return row ? row.getBoundingClientRect().top - scroller.getBoundingClientRect().top : undefined;
}

/**
 * Focuses the list where the focused row was scrolled out of the document.
 * @returns whether the focus is in the list, or nowhere, from where it may come back
 */
export function keepFocus(scroller: HTMLElement, list: HTMLElement, place: Place): boolean {
  const active = focusIn(list);
  if (place.focus && !place.focus.isConnected && active === null) scroller.focus({ preventScroll: true });
  if (!place.focus?.isConnected || (active !== null && !list.contains(active))) place.focus = undefined;
  return active === null || list.contains(active);
}

/** The focused element, also in the page around a shadow root; `null` where nothing has the focus. */
function focusIn(list: HTMLElement): Element | null {
  const active = (list.getRootNode() as Document | ShadowRoot).activeElement ?? document.activeElement;
  return active === document.body ? null : active;
}
