// Handles keys on messages: up and down lead to the neighbours of a focused one, letters to its actions, and copying several keeps their
// authors. Called by message-list.tsx and thread-panel.tsx.
import { fileNamesOf, type Message } from "parley-rooms/client";

import type { Composing } from "../state/composing.ts";
import { t } from "../state/language.ts";
import { bare } from "../state/names.ts";
import type { RoomView } from "../state/room-view.ts";
import { clockTime } from "../state/times.ts";
import type { WritingProps } from "./chat-props.ts";

export function onRowKey(event: KeyboardEvent, { store, view, composing }: WritingProps): void {
  const row = event.target as HTMLElement;
  // Not for a button or link inside the message.
  if (!row.matches("li[data-testid=message]") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "ArrowUp" || event.key === "ArrowDown") return moveTo(event, row);
  const message = messagesOf(view, composing).find(({ seq }) => String(seq) === row.dataset["seq"]);
  if (!message) return;
  const can = view.store.abilitiesOf(message);
  const actions: Readonly<Record<string, (() => void) | false>> = {
    r: can.reply && (() => composing.writing.reply(message.id)),
    e: can.edit && (() => store.edit(message)),
    "+": can.react && (() => store.set({ picking: { anchor: row, message: message.id } })),
    d: () => store.set({ dialog: { kind: "date", at: message.timestamp } }),
    Delete: can.remove && (() => store.set({ dialog: { kind: "delete", message: message.id } })),
  };
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

/** The key of the row in which something happened; empty outside of rows. */
export const rowOf = ({ target }: Event): string =>
  (target as Element).closest<HTMLElement>("li[data-key]")?.dataset["key"] ?? "";

/** Those of the list in which the reader writes. */
export function messagesOf(view: RoomView, { thread }: Composing): readonly Message[] {
  if (thread === undefined) return view.state.messages.stored;
  const { first, replies } = view.store.threads.of(thread);
  return first ? [first, ...replies] : replies;
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

/** Copies the messages of the selection as text with authors and times, where there are several; a part of one is copied as it is. */
export function onRowsCopied(
  event: ClipboardEvent,
  { view, composing }: Pick<WritingProps, "view" | "composing">,
): void {
  const list = event.currentTarget as HTMLElement;
  const selection = (list.getRootNode() as Document).getSelection?.() ?? getSelection();
  if (!selection?.rangeCount) return;
  const range = selection.getRangeAt(0);
  const rows = Array.from(list.querySelectorAll<HTMLElement>("li[data-seq]")).filter((row) => isTextIn(row, range));
  const seqs = new Set(rows.map((row) => Number(row.dataset["seq"])));
  if (seqs.size < 2) return;
  let author = "";
  const lines = messagesOf(view, composing)
    .filter(({ seq }) => seqs.has(seq))
    .map((message) => {
      const { sender, name, timestamp, content, deleted } = message;
      const head = sender === author ? "" : `${author === "" ? "" : "\n"}${bare(name)}, ${clockTime(timestamp)}\n`;
      author = sender;
      const text = deleted ? t("Message deleted") : view.people.withNames(content) || fileNamesOf(message);
      return head + text;
    });
  event.clipboardData?.setData("text/plain", lines.join("\n"));
  event.preventDefault();
}

/** A selection of a whole message may end at the author of the next. */
function isTextIn(row: HTMLElement, range: Range): boolean {
  const text = row.querySelector(".content, .gone, .file, .preview, .player") ?? row;
  if (!range.intersectsNode(text)) return false;
  const part = document.createRange();
  part.selectNodeContents(text);
  // A picture.
  if (part.toString() === "") return true;
  if (part.compareBoundaryPoints(Range.START_TO_START, range) < 0)
    part.setStart(range.startContainer, range.startOffset);
  if (part.compareBoundaryPoints(Range.END_TO_END, range) > 0) part.setEnd(range.endContainer, range.endOffset);
  return part.toString().trim() !== "";
}
