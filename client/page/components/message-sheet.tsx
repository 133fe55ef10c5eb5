// The sheet of a message, which a long press opens at the lower edge of the window: quick reactions, and the items of its menu. The
// dialogs draw it.
import { canonicalEmoji } from "parley-rooms/client";

import { t } from "../state/language.ts";
import type { ChatProps } from "./chat-props.ts";
import { IconButton } from "./controls.tsx";
import { useModal } from "./modal.tsx";
import { MenuGroups, moveFocus } from "./popover.tsx";

/** As many as fit beside the button for others on a narrow phone. */
const QUICK_MAX = 6;

export function MessageSheet({ store, view }: ChatProps) {
  const sheet = useModal();
  const { anchor, message: id = "" } = store.ui.menu!;
  const message = view.messageOf(id);
  const close = (): void => store.set({ menu: undefined });
  // At once: while it is open, nothing else can have the focus.
  const leave = (): void => {
    sheet.current!.close();
    close();
  };
  const own = (emoji: string): boolean =>
    message?.reactions?.find((one) => canonicalEmoji(one.emoji) === canonicalEmoji(emoji))?.users.includes(view.self) ??
    false;
  return (
    <dialog
      ref={sheet}
      class="sheet"
      aria-label={t("Actions")}
      data-testid="sheet"
      onClose={close}
      // The backdrop is the dialog's own.
      onClick={({ target }) => target === sheet.current && close()}
      onKeyDown={(event) => moveFocus(event, sheet.current!)}
    >
      {message && view.store.abilitiesOf(message).react && (
        <div class="quick" role="group" aria-label={t("React")}>
          {store.liked.emoji.slice(0, QUICK_MAX).map((emoji) => (
            <button
              key={emoji}
              type="button"
              class="emoji"
              aria-pressed={own(emoji)}
              onClick={() => {
                leave();
                store.liked.take(emoji);
                void view.actions.react(id, emoji, !own(emoji));
              }}
            >
              {emoji}
            </button>
          ))}
          <IconButton
            icon="plus"
            label={t("Another emoji")}
            onClick={() => {
              leave();
              store.set({ picking: { anchor, message: id } });
            }}
          />
        </div>
      )}
      <div class="menu" role="menu" aria-label={t("Actions")}>
        <MenuGroups store={store} view={view} leave={leave} />
      </div>
    </dialog>
  );
}
