// Writes into the composer's field for the reader. The composer, the emoji picker and the empty room call it.
import { isTouched } from "./keys.ts";

/** As if it were typed: the browser can undo it, and reports it with `input`. Without places, in place of what is selected. */
export function typeInto(
  field: HTMLTextAreaElement,
  text: string,
  from: number = field.selectionStart,
  to: number = field.selectionEnd,
): void {
  if (isTouched() && !field.matches(":focus")) {
    // The focus would open the keyboard.
    field.setRangeText(text, from, to, "end");
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    return;
  }
  field.focus();
  field.setSelectionRange(from, to);
  document.execCommand("insertText", false, text);
}
