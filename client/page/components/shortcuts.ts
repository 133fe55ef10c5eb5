// Keyboard shortcuts of the whole page; in an embedded room, of the chat alone. The app installs them.
import type { ChatStore } from "../state/chat-store.ts";

export function onShortcut(event: KeyboardEvent, store: ChatStore): void {
  const action = actionOf(event, store);
  if (!action) return;
  event.preventDefault();
  action();
}

function actionOf(event: KeyboardEvent, store: ChatStore): (() => void) | undefined {
  const { key, altKey, shiftKey } = event;
  const { dialog } = store.ui;
  const isCommand = event.ctrlKey || event.metaKey;
  if (altKey && key === "ArrowUp" && !store.isEmbedded) return () => store.step(-1);
  if (altKey && key === "ArrowDown" && !store.isEmbedded) return () => store.step(1);
  if (isCommand && !shiftKey && !altKey && key.toLowerCase() === "k" && !store.isEmbedded)
    return () => store.set({ dialog: dialog?.kind === "switcher" ? undefined : (dialog ?? { kind: "switcher" }) });
  if (isCommand && key === "/") return () => store.set({ dialog: { kind: "shortcuts" } });
  if (isCommand && shiftKey && key.toLowerCase() === "f") return () => store.open("search");
  if (isCommand && shiftKey && key.toLowerCase() === "m") return () => store.open("members");
  if (isCommand && shiftKey && event.code === "Space") return () => void store.view?.store.showNewest();
  if (key !== "Escape" || event.defaultPrevented) return undefined;
  if (store.panel !== undefined) return () => store.open(undefined);
  return store.view?.state.reading.keptUnread ? () => void store.view!.store.showNewest() : store.dismiss;
}
