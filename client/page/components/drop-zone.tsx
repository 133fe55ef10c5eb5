// The area that takes dropped files: the whole window, or the chat of an embedding page. It keeps the browser from opening a
// dropped file. The app draws it.
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { t } from "../state/language.ts";
import type { ChatProps } from "./chat-props.ts";
import { filesOf } from "./clipboard.ts";

interface DropZoneProps extends ChatProps {
  /** The element that takes dropped files; without it, the whole window. */
  readonly within: RefObject<HTMLElement | null> | undefined;
}

export function DropZone({ store, view, within }: DropZoneProps) {
  const { composing } = view;
  const [isOver, setOver] = useState(false);
  /** Whether the dragged file is an image of this page, which browsers offer as a file, too. */
  const isOwn = useRef(false);
  useEffect(() => {
    const target: EventTarget = within?.current ?? window;
    const watching = new AbortController();
    const on = (name: string, act: (event: DragEvent) => unknown): void =>
      target.addEventListener(name, (event) => act(event as DragEvent), { signal: watching.signal });
    on("dragstart", () => (isOwn.current = true));
    on("dragend", () => (isOwn.current = false));
    on("dragover", (event) => {
      // The browser handles dragged text.
      if (!hasFiles(event) || isOwn.current) return;
      event.preventDefault();
      event.dataTransfer!.dropEffect = composing.mayAttach ? "copy" : "none";
      setOver(true);
    });
    on("dragleave", ({ relatedTarget }) => {
      const isInside = relatedTarget instanceof Node && (!within || within.current!.contains(relatedTarget));
      if (!isInside) setOver(false);
    });
    on("drop", (event) => {
      setOver(false);
      if (!hasFiles(event)) return;
      event.preventDefault();
      const isInThread = event.target instanceof Element && event.target.closest(".side-panel") !== null;
      const to = isInThread && store.thread !== undefined ? view.composingIn(store.thread) : composing;
      if (to.mayAttach && !isOwn.current) to.attach(filesOf(event.dataTransfer!));
    });
    return () => watching.abort();
  }, [view]);
  useEffect(() => {
    if (!isOver) return undefined;
    // The pointer moves again: the drag was cancelled.
    const end = (): void => setOver(false);
    addEventListener("pointermove", end);
    return () => removeEventListener("pointermove", end);
  }, [isOver]);
  if (!isOver) return null;
  return (
    <div class="drop-zone" data-testid="drop-zone">
      <p>{composing.mayAttach ? t("Drop to attach") : t("Files cannot be attached here.")}</p>
    </div>
  );
}

const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes("Files") === true;

/** Keeps the browser from opening a dropped file in place of the page, also where nothing takes files, as in the join form. */
export function keepFilesOut(): void {
  for (const name of ["dragover", "drop"] as const)
    addEventListener(name, (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      event.dataTransfer!.dropEffect = "none";
    });
}
