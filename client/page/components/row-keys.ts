// Handles keys on a focused message: up and down lead to its neighbours, letters to its actions. The message list calls it.
import type { ChatProps } from "./chat-props.ts";

export function onRowKey(event: KeyboardEvent, { store, view }: ChatProps): void {
  const row = event.target as HTMLElement;
  // Not for a button or link inside the message.
  if (!row.matches("li[data-testid=message]") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "ArrowUp" || event.key === "ArrowDown") return moveTo(event, row);
  const message = view.state.messages.stored.find(({ seq }) => String(seq) === row.dataset["seq"]);
  if (!message) return;
  const can = view.store.abilitiesOf(message);
  const actions: Readonly<Record<string, (() => void) | false>> = {
    r: can.reply && (() => view.writing.reply(message.id)),
    e: can.edit && (() => store.edit(message)),
    "+": can.react && (() => store.set({ reacting: { anchor: row, message: message.id } })),
    Delete: can.remove && (() => store.set({ dialog: { kind: "delete", message: message.id } })),
  };
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

function moveTo(event: KeyboardEvent, row: Element): void {
  event.preventDefault();
  const next = (from: Element): Element | null =>
    event.key === "ArrowUp" ? from.previousElementSibling : from.nextElementSibling;
  let to = next(row);
  while (to && !to.matches("[data-testid=message]")) to = next(to);
  if (!(to instanceof HTMLElement)) return;
  to.focus({ preventScroll: true });
  to.scrollIntoView({ block: "nearest" });
}
