// Dialogs over the page, with their buttons and choices. The browser keeps the focus in an open dialog, and gives it back. The
// dialogs of the page and of the operator page, and the picture viewer, call this.
import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

import { t } from "../state/language.ts";
import { Button, submitting } from "./controls.tsx";
import { focusKeeper } from "./focus.ts";
import { keepEscape } from "./keys.ts";

/** Shows the dialog it is given to while it is drawn. */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const { current } = dialog;
    if (!current) return undefined;
    const giveBack = focusKeeper(current);
    const letEscapeGo = keepEscape();
    current.showModal();
    return () => {
      letEscapeGo();
      current.close();
      giveBack();
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

/** A dialog without a question: it can only be closed. */
export function InfoDialog({ title, onClose, children }: ModalProps) {
  return (
    <Modal title={title} onClose={onClose}>
      {children}
      <p class="dialog-buttons">
        <Button class="primary" onClick={onClose}>
          {t("Close")}
        </Button>
      </p>
    </Modal>
  );
}

interface FormDialogProps extends ModalProps {
  readonly submit: string;
  readonly isGrave?: boolean;
  readonly onSubmit: () => void;
}

/** A dialog that asks before it acts. */
export function FormDialog({ title, submit, isGrave = false, onSubmit, onClose, children }: FormDialogProps) {
  return (
    <Modal title={title} onClose={onClose}>
      <form onSubmit={submitting(onSubmit)}>
        {children}
        <p class="dialog-buttons">
          <Button class="plain" onClick={onClose}>
            {t("Cancel")}
          </Button>
          <button type="submit" class={isGrave ? "primary grave" : "primary"} data-testid="dialog-submit">
            {submit}
          </button>
        </p>
      </form>
    </Modal>
  );
}

interface ChoiceProps {
  /** Of the element, for its label and for tests. */
  readonly id: string;
  readonly label: string;
  readonly options: ReadonlyArray<readonly [value: number, words: string]>;
  readonly value: number;
  readonly onChoose: (value: number) => void;
}

/** One of several numbers, each with its words. */
export function Choice({ id, label, options, value, onChoose }: ChoiceProps) {
  return (
    <>
      <label for={id}>{label}</label>
      <select
        id={id}
        data-testid={id}
        value={String(value)}
        onChange={({ currentTarget }) => onChoose(Number(currentTarget.value))}
      >
        {options.map(([option, words]) => (
          <option key={option} value={String(option)}>
            {words}
          </option>
        ))}
      </select>
    </>
  );
}
