// The search panel: takes words, lists the messages found, newest first, and jumps to one. The app draws it.
import { useEffect, useRef, useState } from "preact/hooks";
import type { FoundMessage } from "parley-rooms/client";

import { describeFailure } from "../state/room-answers.ts";
import { exactTime, dayTitle, clockTime } from "../state/times.ts";
import { Avatar } from "./avatar.tsx";
import type { ChatProps } from "./chat-props.ts";
import { Button, submitting } from "./controls.tsx";
import { SidePanel } from "./side-panel.tsx";

/** Characters shown before the first match. */
const LEAD = 40;

interface Found {
  readonly query: string;
  readonly messages: readonly FoundMessage[];
  /** The next search goes on before this `seq`; `undefined` where there is no more. */
  readonly before: number | undefined;
  readonly problem: string;
}

const NOTHING: Found = { query: "", messages: [], before: undefined, problem: "" };

export function SearchPanel({ store, view }: ChatProps) {
  const field = useRef<HTMLInputElement>(null);
  const [found, setFound] = useState(NOTHING);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => field.current?.focus(), []);
  const search = async (query: string, after: Found): Promise<void> => {
    if (query === "" || isBusy) return;
    setBusy(true);
    const answer = await view.store.search({ query, ...(after.before !== undefined && { before: after.before }) });
    setBusy(false);
    if ("error" in answer) return setFound({ ...after, query, problem: describeFailure(answer.error) });
    const messages = [...after.messages, ...answer.messages];
    setFound({ query, messages, before: answer.hasMore ? answer.before : undefined, problem: "" });
  };
  const { query, messages, before, problem } = found;
  const status = isBusy
    ? "Searching…"
    : problem || (query === "" ? "" : outcome(messages.length, before !== undefined));
  return (
    <SidePanel store={store} title="Search">
      <form class="search-form" role="search" onSubmit={submitting(() => search(field.current!.value.trim(), NOTHING))}>
        <input
          ref={field}
          type="search"
          aria-label="Search in this room"
          placeholder="Words, or “a phrase”"
          data-testid="search-field"
          enterkeyhint="search"
        />
      </form>
      <p class="muted none" role="status" data-testid="search-outcome">
        {status}
      </p>
      <ol class="found" data-testid="found">
        {messages.map((message) => (
          <li key={message.id}>
            <button type="button" onClick={() => jumpTo({ store, view }, message.seq)}>
              <Avatar user={message.sender} name={message.name} small />
              <span class="found-head">
                <bdi>{message.name}</bdi>{" "}
                <time title={exactTime(message.timestamp)}>
                  {dayTitle(message.timestamp, view.store.now())} {clockTime(message.timestamp)}
                </time>
              </span>
              <Excerpt message={message} />
            </button>
          </li>
        ))}
      </ol>
      {before !== undefined && (
        <Button class="link more-found" disabled={isBusy} onClick={() => void search(query, found)}>
          Search older messages
        </Button>
      )}
    </SidePanel>
  );
}

function outcome(count: number, hasMore: boolean): string {
  if (count === 0) return hasMore ? "Nothing so far." : "Nothing found.";
  return `${count}${hasMore ? " or more" : ""} found`;
}

function jumpTo({ store, view }: ChatProps, seq: number): void {
  // On a phone the panel covers the message.
  if (matchMedia("(max-width: 48rem)").matches) store.open(undefined);
  void view.store.jumpTo(seq);
}

function Excerpt({ message: { content, matches } }: { readonly message: FoundMessage }) {
  const from = beginOfExcerpt(content, matches[0]?.[0] ?? 0);
  const parts = [];
  let at = from;
  for (const [start, end] of matches) {
    if (start < at) continue;
    parts.push(unmarked(content.slice(at, start)), <mark key={start}>{content.slice(start, end)}</mark>);
    at = end;
  }
  return (
    <span class="excerpt" dir="auto">
      {from > 0 && "…"}
      {parts}
      {unmarked(content.slice(at))}
    </span>
  );
}

/** A little before the first match, at the beginning of a word. */
function beginOfExcerpt(content: string, found: number): number {
  if (found <= LEAD) return 0;
  const space = content.slice(found - LEAD, found).search(/\s\S/);
  return found - LEAD + space + 1;
}

/** Without the marks of bold and code, which may be unpaired in an excerpt. */
const unmarked = (text: string): string => text.replaceAll(/\*\*|`+/g, "");
