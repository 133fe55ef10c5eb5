// Rules for events of keys and fields. Two are kept once at the root, so that no handler has to know them: all entries install that of
// input methods, the embed that of fields, too. Dialogs and popovers keep Escape. The composer asks what Enter does.

import type { Mark } from "../state/marks.ts";

const KEYS = ["keydown", "keypress", "keyup"] as const;
/** What a field sends besides, and what leaves a shadow root. */
const OF_FIELDS = [...KEYS, "beforeinput", "input", "compositionstart", "compositionupdate", "compositionend"] as const;
const OF_CLIPBOARD = ["copy", "cut", "paste"] as const;
const FIELDS = "input, textarea, select";
/** By code, whether a key that went down stayed inside: it comes up at the same listeners, wherever the focus is then. */
const keptDown = new Map<string, boolean>();

/** A keyboard on glass has no Shift+Enter: there Enter begins a line, and the button sends. */
export const isTouched = (): boolean => matchMedia("(pointer: coarse)").matches;

/** Whether a pointer can rest on something without a press. After a tap browsers may report a mouse where there is none. */
export const isHovering = (): boolean => matchMedia("(hover: hover)").matches;

/** On a Mac, Ctrl with a letter moves the caret. */
const isMac = /Mac|iP/.test(navigator.platform);
/** As the list of shortcuts names the key of commands. */
export const COMMAND = isMac ? "⌘" : "Ctrl";

const MARKS: Readonly<Record<string, Mark>> = { b: "**", i: "_", e: "`", "shift x": "~~" };

/** The mark that the reader wants around what they selected. */
export function markOf({ key, code, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): Mark | undefined {
  if (altKey || !(isMac ? metaKey : ctrlKey)) return undefined;
  // Keyboards of other scripts have the letter in its place.
  const letter = /^[a-z]$/i.test(key) ? key : code.replace(/^Key/, "");
  return MARKS[(shiftKey ? "shift " : "") + letter.toLowerCase()];
}

/** Keys of an input method (Chinese, Japanese …) reach no handler: Enter accepts a word there, and Escape discards it. */
export function leaveInputMethodsTheirKeys(root: EventTarget): void {
  const leave = (event: Event): void => {
    if (isOfInputMethod(event as KeyboardEvent)) event.stopPropagation();
  };
  for (const type of KEYS) root.addEventListener(type, leave, { capture: true });
}

/** Safari ends the composition before it reports the key that did so: only the old code of the key tells. */
const isOfInputMethod = ({ isComposing, keyCode, key }: KeyboardEvent): boolean =>
  isComposing || keyCode === 229 || key === "Process";

/**
 * The browser closes a dialog or popover on Escape, wherever the focus is. Until then no other listener hears the key: neither that of
 * a panel below nor those of a page around an embed. @returns what ends it
 */
export function keepEscape(): () => void {
  const closing = new AbortController();
  const keep = (event: KeyboardEvent): void => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    keptDown.set(event.code, event.type === "keydown");
  };
  for (const type of ["keydown", "keyup"] as const)
    addEventListener(type, keep, { capture: true, signal: closing.signal });
  return () => closing.abort();
}

/**
 * Outside a shadow root its events come from the element around it, which is no field for the shortcuts of the embedding page. So
 * these stay inside: the events of fields, and keys that a button takes or a handler has taken. Other keys are the page's, and so is
 * an Escape that nothing here has taken.
 */
export function keepFieldEventsInside(root: EventTarget): void {
  for (const type of [...OF_FIELDS, ...OF_CLIPBOARD])
    root.addEventListener(type, (event) => {
      const { code = "" } = event as Partial<KeyboardEvent>;
      const isKept = (type === "keyup" ? keptDown.get(code) : undefined) ?? isTaken(event);
      if (type === "keydown") keptDown.set(code, isKept);
      if (type === "keyup") keptDown.delete(code);
      if (isKept) event.stopPropagation();
    });
}

function isTaken(event: Event): boolean {
  const { target, defaultPrevented } = event;
  const isAt = (elements: string): boolean => target instanceof Element && target.matches(elements);
  if (!(event instanceof KeyboardEvent)) return isAt(FIELDS);
  if (isCommand(event)) return false;
  if (event.type === "keydown" && event.key === "Escape") return defaultPrevented;
  return defaultPrevented || isAt(FIELDS) || (isAt("button, a") && /^(?:Enter| )$/.test(event.key));
}

/** Ctrl or Cmd with a key that no field knows, such as Ctrl+K. With Alt, such keys write letters of some keyboards. */
const isCommand = ({ ctrlKey, metaKey, altKey, key }: KeyboardEvent): boolean =>
  (ctrlKey || metaKey) && !altKey && /^[^acvxyz]$/i.test(key);
