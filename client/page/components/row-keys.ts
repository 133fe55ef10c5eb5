// Keys on a message that has the focus: up and down to its neighbours, and a letter for each of its actions.
import { abilitiesOf } from "../state/abilities.ts";
import type { Session } from "../state/session.ts";
import type { RoomView } from "../state/room-view.ts";

export function onRowKey(event: KeyboardEvent, session: Session, view: RoomView): void {
  const row = event.target as HTMLElement;
  // Not on a button or link in it.
  if (!row.matches("li[data-testid=message]") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "ArrowUp" || event.key === "ArrowDown") return moveTo(event, row);
  const message = view.timeline.messages.find(({ seq }) => String(seq) === row.dataset["seq"]);
  if (!message) return;
  const can = abilitiesOf(message, view, view.clock.now());
  const actions: Readonly<Record<string, (() => void) | false>> = {
    r: can.reply && (() => session.reply(message)),
    e: can.edit && (() => session.edit(message)),
    "+": can.react && (() => session.set({ reacting: { anchor: row, message } })),
    Delete: can.remove && (() => session.set({ dialog: { kind: "delete", message } })),
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
