// Where the reader is in the message list, and how the document is kept there: heights are measured, and what one looks at, or
// has the focus on, stays.
import type { RowLayout } from "../state/row-layout.ts";
import type { Row } from "../state/rows.ts";

/** What the reader looks at: a row, and how far below the upper edge it begins. */
interface Anchor {
  readonly key: string;
  readonly offset: number;
}

export class Place {
  /** Another one after each change of the heights. */
  version = 0;
  readonly heights = new Map<string, number>();
  anchor: Anchor | undefined;
  /** Of the view, when the list was put in its place last. */
  size = "";
  target: object | undefined;
  /** What in the list had the focus last. */
  focus: Element | undefined;
}

/** Changes with the window, and with what stands around the list. */
export const sizeOf = ({ clientWidth, clientHeight }: HTMLElement): string => `${clientWidth} ${clientHeight}`;

/** Nobody sees a list without a height: it stands in what its page hides. */
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

/** The first row in view that stays: what is new does not move it. */
export function anchorAt(layout: RowLayout, rows: readonly Row[], scrollTop: number): Anchor | undefined {
  let index = layout.at(scrollTop);
  // Days and lines between messages come and go.
  while (index < rows.length - 1 && rows[index]!.kind !== "message") index++;
  const row = rows[index];
  return row && { key: row.key, offset: layout.topOf(index) - scrollTop };
}

/** Which row Tab leads to: the one that has the focus, otherwise the last one in view. */
export function tabStopOf(drawn: readonly Row[], focused: string, lastInView: Row | undefined): string | undefined {
  if (drawn.some(({ key }) => key === focused)) return focused;
  const end = lastInView ? drawn.indexOf(lastInView) + 1 : drawn.length;
  return drawn.slice(0, end).findLast(({ kind }) => kind === "message" || kind === "outgoing")?.key;
}

/** @returns whether a row is not as high as it was taken for */
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

export function settle(scroller: HTMLElement, list: HTMLElement, place: Place, following: boolean): void {
  place.size = sizeOf(scroller);
  if (following) {
    scroller.scrollTop = scroller.scrollHeight;
    return;
  }
  const { anchor } = place;
  const row = anchor && list.querySelector(`[data-key="${CSS.escape(anchor.key)}"]`);
  if (!row) return;
  const moved = row.getBoundingClientRect().top - scroller.getBoundingClientRect().top - anchor.offset;
  if (Math.abs(moved) >= 1) scroller.scrollTop += moved;
}

/**
 * What had the focus and was scrolled out of the document leaves it to the list.
 * @returns whether the focus is in the list, or nowhere, from where it may come back
 */
export function keepFocus(scroller: HTMLElement, list: HTMLElement, place: Place): boolean {
  const active = focusIn(list);
  if (place.focus && !place.focus.isConnected && active === null) scroller.focus({ preventScroll: true });
  if (!place.focus?.isConnected || (active !== null && !list.contains(active))) place.focus = undefined;
  return active === null || list.contains(active);
}

/** What has the focus, also in the page around a shadow root; `null` for nothing at all. */
function focusIn(list: HTMLElement): Element | null {
  const active = (list.getRootNode() as Document | ShadowRoot).activeElement ?? document.activeElement;
  return active === document.body ? null : active;
}
