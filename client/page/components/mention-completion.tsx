// Completes a mention while it is written: finds the people who fit, lists them above the field and handles the keys of the list.
// The composer calls it.
import { useState } from "preact/hooks";

import { openMentionIn, suggestionsFor, withMention } from "../state/completion.ts";
import { mentionOf } from "../state/mentions.ts";
import type { Person } from "../state/presence.ts";
import type { RoomView } from "../state/room-view.ts";
import type { ViewProps } from "./chat-props.ts";
import { useFound } from "./hooks.ts";

export interface Completion {
  /** The people who fit what is written before the caret; none while no mention is open. */
  readonly people: readonly Person[];
  /** The index of the person whom Enter completes. */
  readonly chosen: number;
  readonly complete: (person: Person) => void;
  /** @returns whether the key was one of the list */
  readonly onKey: (event: KeyboardEvent) => boolean;
  /** The text has changed: the list opens again, at its first person. */
  readonly reset: () => void;
}

/** @param onComplete gets the text with the mention, and the new place of the caret */
export function useCompletion(
  view: RoomView,
  text: string,
  caret: number,
  onComplete: (text: string, caret: number) => void,
): Completion {
  const [chosen, setChosen] = useState(0);
  const [isClosed, setClosed] = useState(false);
  const mention = isClosed ? undefined : openMentionIn(text, caret);
  const people = mention ? suggestionsFor(mention.query, others(view)) : [];
  useFound(view, mention?.query ?? "");
  const complete = ({ user }: Person): void => {
    // A person without a label is written, and shown to the reader, as an id.
    const label = view.people.labelOf(user) ?? mentionOf(user, "").slice(1);
    const completed = withMention(text, caret, mention!.from, label);
    onComplete(completed.text, completed.caret);
  };
  const onKey = (event: KeyboardEvent): boolean => {
    if (people.length === 0) return false;
    if (event.key === "ArrowDown") setChosen((chosen + 1) % people.length);
    else if (event.key === "ArrowUp") setChosen((chosen + people.length - 1) % people.length);
    else if (event.key === "Enter" || (event.key === "Tab" && !event.shiftKey)) complete(people[chosen]!);
    else if (event.key === "Escape") setClosed(true);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  const reset = (): void => {
    setClosed(false);
    setChosen(0);
  };
  return { people, chosen, complete, onKey, reset };
}

/** Everybody but the reader: first the members who are here, then the other people known in the room. */
function others({ presence, people, self }: RoomView): Person[] {
  const all = new Map([...presence.roster.people, ...people.all].map((person) => [person.user, person]));
  all.delete(self);
  return Array.from(all.values());
}

export function Suggestions({ view, completion }: ViewProps & { readonly completion: Completion }) {
  const { people, chosen, complete } = completion;
  if (people.length === 0) return null;
  return (
    <ul class="suggestions" id="suggestions" role="listbox" aria-label="People to mention" data-testid="suggestions">
      {people.map((person, at) => (
        <li
          key={person.user}
          id={`suggestion-${at}`}
          role="option"
          aria-selected={at === chosen}
          // Before the field loses the focus.
          onPointerDown={(event) => {
            event.preventDefault();
            complete(person);
          }}
        >
          <bdi>{person.name}</bdi> <bdi class="muted">{view.people.tagOf(person.user)}</bdi>
        </li>
      ))}
    </ul>
  );
}
