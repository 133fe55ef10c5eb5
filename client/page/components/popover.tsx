// The menu that opens beside a button, above everything else: the browser closes it on Escape or a click elsewhere. Arrow keys
// move between its buttons, and the focus goes back to where it came from. The app draws it. The sheet of a message has the same items.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

import { t } from "../state/language.ts";
import type { ChatProps } from "./chat-props.ts";
import { focusKeeper } from "./focus.ts";
import { isTouched, keepEscape } from "./keys.ts";
import { MenuIcon } from "./menu-icons.tsx";
import { menuItems } from "./menu-items.ts";

const MARGIN = 8;

interface PopoverProps {
  readonly anchor: Element;
  readonly label: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly class?: string;
  readonly role?: "menu" | "dialog";
}

export function Popover({ anchor, label, onClose, children, class: extra = "", role = "dialog" }: PopoverProps) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { current } = box;
    if (!current) return undefined;
    current.showPopover();
    place(current, anchor.getBoundingClientRect());
    // On a touch screen a field would open the keyboard.
    current.querySelector<HTMLElement>(isTouched() ? "button" : "input, button")?.focus();
    const button = anchor instanceof HTMLButtonElement ? anchor : undefined;
    // The next press on it closes what this one has opened.
    if (button) button.popoverTargetElement = current;
    const giveBack = focusKeeper(current, anchor);
    const letEscapeGo = keepEscape();
    return () => {
      if (button) button.popoverTargetElement = null;
      letEscapeGo();
      giveBack();
    };
  }, [anchor]);
  return (
    <div
      ref={box}
      popover="auto"
      class={`popover ${extra}`}
      role={role}
      aria-label={label}
      onToggle={(event) => event.newState === "closed" && onClose()}
      onKeyDown={(event) => moveFocus(event, box.current!)}
    >
      {children}
    </div>
  );
}

export function MenuPopover({ store, view }: ChatProps) {
  const { menu } = store.ui;
  if (!menu || menu.isSheet) return null;
  const close = (): void => store.set({ menu: undefined });
  const leave = (): void => {
    // A dialog that opens now gives it back there.
    (menu.anchor as HTMLElement).focus({ preventScroll: true });
    close();
  };
  return (
    <Popover anchor={menu.anchor} label={t("Actions")} onClose={close} class="menu" role="menu">
      <MenuGroups store={store} view={view} leave={leave} />
    </Popover>
  );
}

/** The items of the open menu. @param leave closes it, before the chosen item acts */
export function MenuGroups({ store, view, leave }: ChatProps & { readonly leave: () => void }) {
  return (
    <>
      {menuItems({ store, view }).map((group, at) => (
        <div key={at} role="group" class={group[0]!.isChosen === undefined ? "" : "choices"}>
          {group.map(({ label, icon, act, isGrave, isChosen, choice }) => (
            <button
              key={label}
              type="button"
              role={isChosen === undefined ? "menuitem" : "menuitemradio"}
              aria-checked={isChosen}
              class={isGrave ? "grave" : ""}
              onClick={() => {
                leave();
                act();
              }}
            >
              <MenuIcon name={icon} />
              <span>
                {choice !== undefined && <span class="unseen">{choice}: </span>}
                {label}
              </span>
            </button>
          ))}
        </div>
      ))}
    </>
  );
}

/** Below the anchor where there is room, otherwise above; beside the edge of the anchor that is nearer to the window's; always in the window. */
function place(box: HTMLElement, anchor: DOMRect): void {
  const { width, height } = box.getBoundingClientRect();
  const below = anchor.bottom + MARGIN / 2;
  const top = below + height + MARGIN < innerHeight ? below : Math.max(MARGIN, anchor.top - height - MARGIN / 2);
  const isLeft = anchor.left + anchor.right < innerWidth;
  const left = Math.min(isLeft ? anchor.left : anchor.right - width, innerWidth - width - MARGIN);
  Object.assign(box.style, { top: `${top}px`, left: `${Math.max(MARGIN, left)}px` });
}

/** To the next button, or the one before. */
export function moveFocus(event: KeyboardEvent, box: HTMLElement): void {
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const buttons = Array.from(box.querySelectorAll("button"));
  const at = buttons.findIndex((button) => button.matches(":focus"));
  buttons.at((at + step) % buttons.length)?.focus();
}
