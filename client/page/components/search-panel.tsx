// The search panel: takes words, lists the messages found, newest first, and jumps to one. The app draws it.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { FoundMessage } from "parley-rooms/client";

import { excerptOf } from "../state/excerpt.ts";
import { t, tn } from "../state/language.ts";
import { bare } from "../state/names.ts";
import { describeFailure } from "../state/room-answers.ts";
import { exactTime, shortTime } from "../state/times.ts";
import { Avatar } from "./avatar.tsx";
import type { ChatProps, ViewProps } from "./chat-props.ts";
import { Button, SearchField, submitting } from "./controls.tsx";
import { coversMessages, SidePanel } from "./side-panel.tsx";
import { Tag } from "./tag.tsx";

/** A found message without its content, which the room view knows as it is now. */
type FoundPlace = Omit<FoundMessage, "content">;

interface Found {
  readonly query: string;
  readonly messages: readonly FoundPlace[];
  /** The next search goes on before this `seq`; `undefined` where there is no more. */
  readonly before: number | undefined;
  readonly problem: string;
}

const NOTHING: Found = { query: "", messages: [], before: undefined, problem: "" };

export function SearchPanel({ store, view }: ChatProps) {
  const field = useRef<HTMLInputElement>(null);
  const [words, setWords] = useState("");
  const [found, setFound] = useState(NOTHING);
  const [isBusy, setBusy] = useState(false);
  // In the layout effect, before the reader types the first letter.
  useLayoutEffect(() => field.current?.focus(), []);
  const search = async (query: string, after: Found): Promise<void> => {
    if (isBusy) return;
    if (query === "") return setFound(NOTHING);
    setBusy(true);
    // A mention is an id in the room.
    const answer = await view.store.search({
      query: view.people.withIds(query),
      ...(after.before !== undefined && { before: after.before }),
    });
    setBusy(false);
    if ("error" in answer) return setFound({ ...after, query, problem: describeFailure(answer.error) });
    const places = answer.messages.map(({ content: _content, ...place }): FoundPlace => place);
    const messages = [...after.messages, ...places];
    setFound({ query, messages, before: answer.hasMore ? answer.before : undefined, problem: "" });
  };
  const { query, messages, before, problem } = found;
  const status = isBusy
    ? t("Searching…")
    : problem || (query === "" ? "" : outcome(messages.length, before !== undefined));
  return (
    <SidePanel store={store} title={t("Search")}>
      <form class="search-form" role="search" onSubmit={submitting(() => search(words.trim(), NOTHING))}>
        <SearchField
          field={field}
          label={view.kind === "room" ? t("Search in this room") : t("Search in this conversation")}
          placeholder={t("Words, “a phrase” or @name")}
          testId="search-field"
          value={words}
          onText={setWords}
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
                <bdi>{bare(message.name)}</bdi> <Tag view={view} user={message.sender} />{" "}
                <time title={exactTime(message.timestamp)}>{shortTime(message.timestamp, view.store.now())}</time>
              </span>
              <Excerpt view={view} found={message} />
            </button>
          </li>
        ))}
      </ol>
      {before !== undefined && (
        <Button class="link more-found" disabled={isBusy} onClick={() => void search(query, found)}>
          {t("Search older messages")}
        </Button>
      )}
    </SidePanel>
  );
}

function outcome(count: number, hasMore: boolean): string {
  if (count === 0) return hasMore ? t("Nothing so far.") : t("Nothing found.");
  return hasMore ? tn(count, "{n} or more found", "{n} or more found") : tn(count, "{n} found", "{n} found");
}

function jumpTo({ store, view }: ChatProps, seq: number): void {
  if (coversMessages()) store.open(undefined);
  void view.store.jumpTo(seq);
}

function Excerpt({ view, found: { id, editedAt, matches } }: ViewProps & { readonly found: FoundPlace }) {
  const message = view.messageOf(id);
  // A deleted one still leads to its place.
  if (message === null) return <span class="excerpt gone">{t("Message deleted")}</span>;
  const content = message?.content ?? "…";
  // After an edit the places of the matches are others.
  const isAsFound = message?.editedAt === editedAt;
  const parts = excerptOf({ content, matches: isAsFound ? matches : [] }, view.people.labelledIn(content));
  return (
    <span class="excerpt" dir="auto">
      {parts.map(({ text, isMatch }, at) => (isMatch ? <mark key={at}>{text}</mark> : text))}
    </span>
  );
}
