// The picker for one more reaction to a message. The app draws it while the reader reacts.
import { canonicalEmoji } from "parley-rooms/client";

import type { ChatProps } from "./chat-props.ts";
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

/** Opens beside the pressed button or the focused message. */
export function ReactionPicker({ store, view }: ChatProps) {
  const { reacting } = store.ui;
  if (!reacting) return null;
  const { anchor, message } = reacting;
  const close = (): void => store.set({ reacting: undefined });
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
            const users = view
              .messageOf(message)
              ?.reactions?.find((one) => canonicalEmoji(one.emoji) === canonicalEmoji(emoji))?.users;
            void view.actions.react(message, emoji, !users?.includes(view.self));
          }}
        >
          {emoji}
        </button>
      ))}
    </Popover>
  );
}
