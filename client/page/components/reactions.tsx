// The reactions below a message, and the picker for one more.
import type { Message } from "../../../src/protocol/chat-events.ts";
import { abilitiesOf } from "../state/abilities.ts";
import { named } from "../state/names.ts";
import type { Session } from "../state/session.ts";
import type { Visit } from "../state/visit.ts";
import { Popover } from "./popover.tsx";

const EMOJI: ReadonlyArray<readonly [emoji: string, name: string]> = [
  ["👍", "thumbs up"],
  ["❤️", "heart"],
  ["😂", "tears of joy"],
  ["🎉", "party"],
  ["😮", "surprised"],
  ["😢", "crying"],
  ["🙏", "thank you"],
  ["🔥", "fire"],
  ["👀", "eyes"],
  ["✅", "done"],
  ["❌", "no"],
  ["💯", "hundred"],
  ["🚀", "rocket"],
  ["🤔", "thinking"],
  ["👏", "applause"],
  ["😊", "smile"],
  ["😍", "in love"],
  ["😎", "cool"],
  ["😭", "sobbing"],
  ["😡", "angry"],
  ["👎", "thumbs down"],
  ["💡", "idea"],
  ["☕", "coffee"],
  ["🐛", "bug"],
];

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

/** Opens beside what was pressed. */
export function ReactionPicker({ session, visit }: { readonly session: Session; readonly visit: Visit }) {
  const { reacting } = session.ui;
  if (!reacting) return null;
  const { anchor, message } = reacting;
  const close = (): void => session.set({ reacting: undefined });
  return (
    <Popover anchor={anchor} label="Pick a reaction" onClose={close} class="picker">
      {EMOJI.map(([emoji, name]) => (
        <button
          key={emoji}
          type="button"
          class="emoji"
          aria-label={name}
          title={name}
          data-testid={`emoji-${name.replaceAll(" ", "-")}`}
          onClick={() => {
            close();
            const users = visit.timeline.find(message.id)?.reactions?.find((one) => one.emoji === emoji)?.users;
            void visit.deeds.react(message.id, emoji, !users?.includes(visit.self));
          }}
        >
          {emoji}
        </button>
      ))}
    </Popover>
  );
}
