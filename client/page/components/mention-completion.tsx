// Completes a mention while it is written: finds the people who fit, lists them above the field and handles the keys of the list.
// The composer calls it.
import { mentionOf, openMentionIn, type Person } from "parley-rooms/client";

import { suggestionsFor, withMention } from "../state/completion.ts";
import { bare } from "../state/names.ts";
import type { RoomView } from "../state/room-view.ts";
import type { ViewProps } from "./chat-props.ts";
import { useFound } from "./found-members.ts";

interface Completing {
  readonly view: RoomView;
  readonly text: string;
  readonly caret: number;
  /** The index of the person whom Enter completes; negative while the list is closed. */
  readonly chosen: number;
  readonly choose: (index: number) => void;
  /** Replaces that part of the text with the mention. */
  readonly completed: (from: number, to: number, mention: string) => void;
}

export interface Completion {
  /** The typed part of the name; empty while no mention is open. */
  readonly query: string;
  /** The people who fit it. */
  readonly people: readonly Person[];
  readonly chosen: number;
  readonly complete: (person: Person) => void;
  /** @returns whether the key was one of the list */
  readonly onKey: (event: KeyboardEvent) => boolean;
}

export function completionOf({ view, text, caret, chosen, choose, completed }: Completing): Completion {
  const mention = chosen < 0 ? undefined : openMentionIn(text, caret);
  const people = mention ? suggestionsFor(mention.query, others(view)) : [];
  const complete = ({ user }: Person): void => {
    // A person without a label is written, and shown to the reader, as an id.
    const label = view.people.labelOf(user) ?? mentionOf(user, "").slice(1);
    const done = withMention(text, caret, mention!.from, label);
    const after = done.text.length - done.caret;
    completed(mention!.from, text.length - after, done.text.slice(mention!.from, done.caret));
  };
  const onKey = (event: KeyboardEvent): boolean => {
    if (people.length === 0) return false;
    if (event.key === "ArrowDown") choose((chosen + 1) % people.length);
    else if (event.key === "ArrowUp") choose((chosen + people.length - 1) % people.length);
    else if (event.key === "Enter" || (event.key === "Tab" && !event.shiftKey)) complete(people[chosen]!);
    else if (event.key === "Escape") choose(-1);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  return { query: mention?.query ?? "", people, chosen, complete, onKey };
}

/** All but the reader: first the members who are here, then the other people known in the room. */
function others({ state: { presence }, people, self }: RoomView): Person[] {
  const all = new Map([...presence.members, ...people.all].map((person) => [person.user, person]));
  all.delete(self);
  return Array.from(all.values());
}

export function Suggestions({ view, completion }: ViewProps & { readonly completion: Completion }) {
  const { query, people, chosen, complete } = completion;
  useFound(view, query);
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
          <bdi>{bare(person.name)}</bdi> <bdi class="muted">{view.people.tagOf(person.user)}</bdi>
        </li>
      ))}
    </ul>
  );
}
