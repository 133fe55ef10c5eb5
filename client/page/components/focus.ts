// Where the focus goes when what had it is gone: nobody is left at the top of the page.

/** @param before what had the focus before something opened over it */
export function giveBackFocus(before: Element | null, root: Node): void {
  const { activeElement } = root as Document | ShadowRoot;
  if (activeElement !== null && activeElement !== document.body && activeElement.isConnected) return;
  const to = before?.isConnected ? before : (root as Document | ShadowRoot).querySelector(".draft");
  if (to instanceof HTMLElement) to.focus({ preventScroll: true });
}
