// Moves the focus to a useful element when the focused one disappears. Dialogs and popovers call it.

/** @param before the element that had the focus before the dialog or popover opened */
export function giveBackFocus(before: Element | null, root: Node): void {
  const { activeElement } = root as Document | ShadowRoot;
  if (activeElement !== null && activeElement !== document.body && activeElement.isConnected) return;
  const to = before?.isConnected ? before : (root as Document | ShadowRoot).querySelector(".draft");
  if (to instanceof HTMLElement) to.focus({ preventScroll: true });
}
