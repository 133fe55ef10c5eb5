// Keyboard shortcuts of the whole page; in an embedded room, of the chat alone. The app installs them.
import type { Session } from "../state/session.ts";

export function onShortcut(event: KeyboardEvent, session: Session): void {
  const action = deedOf(event, session);
  if (!action) return;
  event.preventDefault();
  action();
}

function deedOf(event: KeyboardEvent, session: Session): (() => void) | undefined {
  const { key, altKey, shiftKey } = event;
  const isCommand = event.ctrlKey || event.metaKey;
  if (altKey && key === "ArrowUp" && !session.isEmbedded) return () => session.step(-1);
  if (altKey && key === "ArrowDown" && !session.isEmbedded) return () => session.step(1);
  if (isCommand && key === "/") return () => session.set({ dialog: { kind: "shortcuts" } });
  if (isCommand && shiftKey && key.toLowerCase() === "f") return () => session.open("search");
  if (isCommand && shiftKey && key.toLowerCase() === "m") return () => session.open("members");
  if (isCommand && shiftKey && event.code === "Space") return () => void session.view?.reading.jumpToNewest();
  const isOpen = session.panel !== undefined && session.ui.dialog === undefined && session.ui.menu === undefined;
  if (key === "Escape" && isOpen && !event.defaultPrevented) return () => session.open(undefined);
  return undefined;
}
