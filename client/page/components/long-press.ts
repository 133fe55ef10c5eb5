// A long press of a finger, or the key of the context menu. Reactions ask for it, to show who gave them, and so do the gestures on messages.

export const LONG_MS = 500;

/** One finger presses at a time. */
let timer: ReturnType<typeof setTimeout> | undefined;

/** What an element needs to hear it. */
export function longPress(act: () => void) {
  const end = (): void => clearTimeout(timer);
  return {
    onPointerDown: ({ pointerType }: PointerEvent): void => {
      end();
      // Not all browsers take it for a call of the context menu.
      if (pointerType !== "mouse") timer = setTimeout(() => pressed(act), LONG_MS);
    },
    onPointerUp: end,
    onPointerCancel: end,
    onPointerLeave: end,
    onContextMenu: (event: Event): void => {
      end();
      event.preventDefault();
      pressed(act);
    },
  };
}

/** The click with which the press may end means neither the element nor what lies over it by then. */
export function pressed(act: () => void): void {
  const next = new AbortController();
  const { signal } = next;
  addEventListener("click", (event) => event.stopPropagation(), { capture: true, signal });
  for (const type of ["pointerdown", "keydown"]) addEventListener(type, () => next.abort(), { capture: true, signal });
  act();
}
