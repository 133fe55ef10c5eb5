// A dialog over the page: the browser keeps the focus in it, and gives it back.
import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

import { giveBackFocus } from "./focus.ts";

/** Shows the dialog it is given to while it is drawn. */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const { current } = dialog;
    if (!current) return undefined;
    const root = current.getRootNode();
    const before = (root as Document | ShadowRoot).activeElement;
    current.showModal();
    return () => {
      current.close();
      queueMicrotask(() => giveBackFocus(before, root));
    };
  }, []);
  return dialog;
}

interface ModalProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Modal({ title, onClose, children }: ModalProps) {
  const dialog = useModal();
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      data-testid="dialog"
      onClose={onClose}
      // The backdrop is the dialog's own.
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div class="dialog-box">
        <h2>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

interface DialogButtonsProps {
  readonly submit: string;
  readonly onCancel: () => void;
  readonly isGrave?: boolean;
}

export function DialogButtons({ submit, onCancel, isGrave = false }: DialogButtonsProps) {
  return (
    <p class="dialog-buttons">
      <button type="button" class="plain" onClick={onCancel}>
        Cancel
      </button>
      <button type="submit" class={isGrave ? "primary grave" : "primary"} data-testid="dialog-submit">
        {submit}
      </button>
    </p>
  );
}
