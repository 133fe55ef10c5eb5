// The reactions below a message.
import type { Message } from "../../../src/protocol/chat-events.ts";
import { abilitiesOf } from "../state/abilities.ts";
import { named } from "../state/names.ts";
import type { Session } from "../state/session.ts";
import type { RoomView } from "../state/room-view.ts";

interface ReactionsProps {
  readonly session: Session;
  readonly view: RoomView;
  readonly message: Message;
}

export function Reactions({ view, message }: ReactionsProps) {
  const { react } = abilitiesOf(message, view, view.clock.now());
  return (
    <div class="reactions">
      {message.reactions?.map(({ emoji, count, users }) => {
        const isOwn = users.includes(view.self);
        const names = users.map((user) => (user === view.self ? "you" : named(view.nameOf(user))));
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
