// Moves the focus to a useful element when the focused one disappears. Dialogs, popovers, side panels and files of the draft call it.

/**
 * Call it when a part opens. @returns gives the focus back once that part is gone from the document, unless the focus is elsewhere
 * @param before the element to focus then; without it, the one that has the focus now
 */
export function focusKeeper(part: Element, before?: Element): () => void {
  const root = part.getRootNode() as Document | ShadowRoot;
  const to = before ?? root.activeElement;
  return () => queueMicrotask(() => giveBackFocus(to, root));
}

function giveBackFocus(before: Element | null, root: Document | ShadowRoot): void {
  if (isUseful(root.activeElement)) return;
  const to = isUseful(before) ? before : root.querySelector(".draft");
  if (to instanceof HTMLElement) to.focus({ preventScroll: true });
}

const isUseful = (element: Element | null): element is Element =>
  element !== null && element !== document.body && element.isConnected;
