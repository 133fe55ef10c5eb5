// Completes a mention or the code of an emoji while it is written: lists what fits above the field, and handles the keys of the list. The
// composer calls it.
import type { ComponentChildren } from "preact";
import { mentionOf, openMentionIn, type Person } from "parley-rooms/client";

import { completed, suggestionsFor, SUGGESTIONS_MAX } from "../state/completion.ts";
import { emojiData, loadEmoji, openCodeIn, wholeCodeIn, type EmojiData, type LikedEmoji } from "../state/emoji.ts";
import { t } from "../state/language.ts";
import { bare } from "../state/names.ts";
import type { RoomView } from "../state/room-view.ts";
import { Avatar } from "./avatar.tsx";
import type { ChatProps } from "./chat-props.ts";
import { useFound } from "./found-members.ts";
import { useEmoji } from "./hooks.ts";
import { typeInto } from "./type-into.ts";

interface Completing extends ChatProps {
  readonly text: string;
  readonly caret: number;
  /** The index of what Enter takes; negative while the list is closed. */
  readonly chosen: number;
  readonly choose: (index: number) => void;
  /** Replaces that part of the text. */
  readonly replace: (from: number, to: number, text: string) => void;
}

interface Suggestion {
  readonly key: string;
  /** Written in the place of what was typed, and a space. */
  readonly text: string;
  readonly shown: ComponentChildren;
  readonly taken?: () => void;
}

export interface Completion {
  readonly label: string;
  /** Empty while nothing that can be completed is being written. */
  readonly suggestions: readonly Suggestion[];
  readonly chosen: number;
  readonly take: (suggestion: Suggestion) => void;
  /** @returns whether the key was one of the list */
  readonly onKey: (event: KeyboardEvent) => boolean;
}

export function useCompletion({ store, view, text, caret, chosen, choose, replace }: Completing): Completion {
  const mention = chosen < 0 ? undefined : openMentionIn(text, caret);
  const code = chosen < 0 || mention ? undefined : openCodeIn(text, caret);
  useFound(view, mention?.query ?? "");
  const emoji = useEmoji(code !== undefined);
  const suggestions = mention
    ? suggestionsFor(mention.query, others(view)).map((person) => suggestedPerson(view, person))
    : code && emoji
      ? suggestedEmoji(store, emoji, code.query)
      : [];
  const take = (suggestion: Suggestion): void => {
    const { from } = (mention ?? code)!;
    suggestion.taken?.();
    const done = completed(text, caret, from, suggestion.text);
    const after = done.text.length - done.caret;
    replace(from, text.length - after, done.text.slice(from, done.caret));
  };
  const onKey = (event: KeyboardEvent): boolean => {
    if (suggestions.length === 0) return false;
    if (event.key === "ArrowDown") choose((chosen + 1) % suggestions.length);
    else if (event.key === "ArrowUp") choose((chosen + suggestions.length - 1) % suggestions.length);
    else if (event.key === "Enter" || (event.key === "Tab" && !event.shiftKey)) take(suggestions[chosen]!);
    else if (event.key === "Escape") choose(-1);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  return { label: mention ? t("People to mention") : t("Emoji"), suggestions, chosen, take, onKey };
}

/** A code becomes its emoji with its second colon. */
export async function replaceCode(field: HTMLTextAreaElement, liked: LikedEmoji): Promise<void> {
  const { value, selectionStart: caret } = field;
  const code = wholeCodeIn(value, caret);
  if (!code) return;
  // Before the next letter is typed, if they are there.
  const emoji = emojiData ?? (await loadEmoji().catch(() => undefined));
  const found = emoji?.ofCode(code.query);
  // Meanwhile the reader may have written on, or gone to another field or room.
  if (found === undefined || field.value !== value || field.selectionStart !== caret || !field.matches(":focus"))
    return;
  liked.take(found.emoji);
  typeInto(field, emoji!.inTone(found, liked.tone), code.from, caret);
}

function suggestedPerson(view: RoomView, { user, name }: Person): Suggestion {
  return {
    key: user,
    // A person without a label is written, and shown to the reader, as an id.
    text: `@${view.people.labelOf(user) ?? mentionOf(user, "").slice(1)}`,
    shown: (
      <>
        <Avatar user={user} name={name} small />
        <bdi>{bare(name)}</bdi> <bdi class="muted">{view.people.tagOf(user)}</bdi>
      </>
    ),
  };
}

function suggestedEmoji({ liked }: ChatProps["store"], { findEmoji, inTone }: EmojiData, query: string): Suggestion[] {
  return findEmoji(query)
    .slice(0, SUGGESTIONS_MAX)
    .map((found) => {
      const { emoji, codes } = found;
      const text = inTone(found, liked.tone);
      const code = codes.find((one) => one.startsWith(query)) ?? codes[0];
      return {
        key: emoji,
        text,
        shown: (
          <>
            <span class="emoji">{text}</span> <span class="muted">:{code}:</span>
          </>
        ),
        taken: () => liked.take(emoji),
      };
    });
}

/** All but the reader: first the members who are here, then the other people known in the room. */
function others({ state: { presence }, people, self }: RoomView): Person[] {
  const all = new Map([...presence.members, ...people.all].map((person) => [person.user, person]));
  all.delete(self);
  return Array.from(all.values());
}

export function Suggestions({ completion, id }: { readonly completion: Completion; readonly id: string }) {
  const { label, suggestions, chosen, take } = completion;
  if (suggestions.length === 0) return null;
  return (
    <ul class="suggestions" id={id} role="listbox" aria-label={label} data-testid="suggestions">
      {suggestions.map((suggestion, at) => (
        <li
          key={suggestion.key}
          id={`${id}-${at}`}
          role="option"
          aria-selected={at === chosen}
          // Before the field loses the focus.
          onPointerDown={(event) => {
            event.preventDefault();
            take(suggestion);
          }}
        >
          {suggestion.shown}
        </li>
      ))}
    </ul>
  );
}
