// The reactions below a message.
import type { Message } from "../../../src/protocol/chat-events.ts";
import { abilitiesOf } from "../state/abilities.ts";
import { named } from "../state/names.ts";
import type { Session } from "../state/session.ts";
import type { Visit } from "../state/visit.ts";

interface ReactionsProps {
  readonly session: Session;
  readonly visit: Visit;
  readonly message: Message;
}

export function Reactions({ visit, message }: ReactionsProps) {
  const { react } = abilitiesOf(message, visit, visit.clock.now());
  return (
    <div class="reactions">
      {message.reactions?.map(({ emoji, count, users }) => {
        const isOwn = users.includes(visit.self);
        const names = users.map((user) => (user === visit.self ? "you" : named(visit.nameOf(user))));
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
            onClick={() => void visit.deeds.react(message.id, emoji, !isOwn)}
          >
            <span class="emoji">{emoji}</span> {count}
          </button>
        );
      })}
    </div>
  );
}
