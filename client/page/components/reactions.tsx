// Draws the reactions below a message, and the button for one more. The message row calls it.
import type { Message } from "parley-rooms/client";

import { numberText, t } from "../state/language.ts";
import { named } from "../state/names.ts";
import type { ChatProps } from "./chat-props.ts";
import { Icon } from "./icons.tsx";
import { longPress } from "./long-press.ts";

interface ReactionsProps extends ChatProps {
  readonly message: Message;
  /** Whether the message has the focus: Tab passes by the button of another one. */
  readonly hasFocus: boolean;
}

export function Reactions({ store, view, message, hasFocus }: ReactionsProps) {
  const { react } = view.store.abilitiesOf(message);
  const { id } = message;
  return (
    <div class="reactions">
      {message.reactions?.map(({ emoji, count, users }) => {
        const isOwn = users.includes(view.self);
        const names = users.map((user) => (user === view.self ? t("you") : named(view.people.nameOf(user))));
        const all = names.join(t(", "));
        const label = `${emoji} ${numberText(count)}: ${count > users.length ? t("{names} and more", { names: all }) : all}`;
        return (
          <button
            key={emoji}
            type="button"
            class="reaction"
            data-testid="reaction"
            aria-pressed={isOwn}
            aria-label={label}
            title={label}
            aria-disabled={!react}
            onClick={() => react && void view.actions.react(id, emoji, !isOwn)}
            {...longPress(() => store.set({ dialog: { kind: "details", message: id } }))}
          >
            <span class="emoji">{emoji}</span> {numberText(count)}
          </button>
        );
      })}
      {react && (
        <button
          type="button"
          class="reaction add"
          data-testid="add-reaction"
          aria-label={t("Add a reaction")}
          title={t("Add a reaction")}
          tabIndex={hasFocus ? 0 : -1}
          onClick={({ currentTarget }) => store.set({ picking: { anchor: currentTarget, message: id } })}
        >
          <Icon name="smile" />
        </button>
      )}
    </div>
  );
}
