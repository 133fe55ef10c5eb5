// Draws the reactions below a message. The message row calls it.
import type { Message } from "parley-rooms/client";

import { named } from "../state/names.ts";
import type { ViewProps } from "./chat-props.ts";

export function Reactions({ view, message }: ViewProps & { readonly message: Message }) {
  const { react } = view.store.abilitiesOf(message);
  return (
    <div class="reactions">
      {message.reactions?.map(({ emoji, count, users }) => {
        const isOwn = users.includes(view.self);
        const names = users.map((user) => (user === view.self ? "you" : named(view.people.nameOf(user))));
        const label = `${emoji} ${count}: ${names.join(", ")}${count > users.length ? " and more" : ""}`;
        return (
          <button
            key={emoji}
            type="button"
            class="reaction"
            data-testid="reaction"
            aria-pressed={isOwn}
            aria-label={label}
            title={label}
            disabled={!react}
            onClick={() => void view.actions.react(message.id, emoji, !isOwn)}
          >
            <span class="emoji">{emoji}</span> {count}
          </button>
        );
      })}
    </div>
  );
}
