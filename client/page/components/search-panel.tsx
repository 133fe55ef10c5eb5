// The search panel: takes words, and lists the messages found in the room, newest first; a press leads to one. Those of all rooms of the reader are
// another part. The embed draws it, and page-search.tsx.
import type { FunctionComponent } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { FoundMessage, SendFailure } from "parley-rooms/client";

import { excerptOf } from "../state/excerpt.ts";
import { t, tn } from "../state/language.ts";
import { describeFailure } from "../state/room-answers.ts";
import type { ChatProps, ViewProps } from "./chat-props.ts";
import { Button, SearchField, submitting } from "./controls.tsx";
import { FoundRow, Marked } from "./found-row.tsx";
import { SidePanel } from "./side-panel.tsx";
import { Tag } from "./tag.tsx";

/** Characters; the server takes no more. */
const QUERY_LENGTH_MAX = 256;

interface SearchPanelProps extends ChatProps {
  /** Draws what was found in all rooms of the reader; an embedded chat has one room. */
  readonly everywhere?: FunctionComponent<ChatProps>;
}

export function SearchPanel({ store, view, everywhere: Everywhere }: SearchPanelProps) {
  const field = useRef<HTMLInputElement>(null);
  const { sought } = store;
  const isEverywhere = sought !== undefined && sought.room === undefined;
  const [words, setWords] = useState(isEverywhere ? sought.query : "");
  // In the layout effect, before the reader types the first letter, which replaces the words of another time.
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.select();
    return () => {
      if (store.sought?.room !== undefined) store.sought = undefined;
    };
  }, []);
  const search = (inAll: boolean): void => store.search({ query: words.trim(), ...(!inAll && { room: view.room }) });
  const scope = (inAll: boolean, label: string) => (
    <label>
      <input type="radio" name="scope" checked={inAll === isEverywhere} onChange={() => search(inAll)} /> {label}
    </label>
  );
  return (
    <SidePanel store={store} title={t("Search")}>
      <form class="search-form" role="search" onSubmit={submitting(() => search(isEverywhere))}>
        <SearchField
          field={field}
          label={labelOf(view.kind, isEverywhere)}
          placeholder={t("Words, “a phrase” or @name")}
          testId="search-field"
          value={words}
          onText={setWords}
          enterkeyhint="search"
          maxLength={QUERY_LENGTH_MAX}
        />
        {Everywhere && (
          <fieldset class="scopes" data-testid="scopes">
            <legend class="unseen">{t("Where")}</legend>
            {scope(false, view.kind === "room" ? t("This room") : t("This conversation"))}
            {scope(true, t("All my rooms"))}
          </fieldset>
        )}
      </form>
      {isEverywhere && Everywhere ? (
        <Everywhere store={store} view={view} />
      ) : (
        <FoundHere key={view.room} store={store} view={view} />
      )}
    </SidePanel>
  );
}

function labelOf(kind: ChatProps["view"]["kind"], isEverywhere: boolean): string {
  if (isEverywhere) return t("Search in all your rooms");
  return kind === "room" ? t("Search in this room") : t("Search in this conversation");
}

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

function FoundHere({ store, view }: ChatProps) {
  const [found, setFound] = useState(NOTHING);
  const [isBusy, setBusy] = useState(false);
  const count = useRef(0);
  const { sought } = store;
  const search = async (query: string, after: Found): Promise<void> => {
    const turn = ++count.current;
    setBusy(query !== "");
    if (query === "") return setFound(NOTHING);
    // A mention is an id in the room.
    const answer = await view.store.search({
      query: view.people.withIds(query),
      ...(after.before !== undefined && { before: after.before }),
    });
    // The reader looks for something else by now.
    if (turn !== count.current) return;
    setBusy(false);
    if ("error" in answer) return setFound({ ...after, query, problem: searchProblem(answer.error) });
    const places = answer.messages.map(({ content: _content, ...place }): FoundPlace => place);
    const messages = [...after.messages, ...places];
    setFound({ query, messages, before: answer.hasMore ? answer.before : undefined, problem: "" });
  };
  useEffect(() => {
    if (sought?.room === view.room) void search(sought.query, NOTHING);
  }, [sought]);
  const { query, messages, before, problem } = found;
  const status = isBusy
    ? t("Searching…")
    : problem || (query === "" ? "" : outcome(messages.length, before !== undefined));
  return (
    <>
      <p class="muted none" role="status" data-testid="search-outcome">
        {status}
      </p>
      <ol class="found" data-testid="found">
        {messages.map((message) => (
          <FoundRow
            key={message.id}
            {...{ store, view }}
            found={message}
            tag={<Tag view={view} user={message.sender} />}
          >
            <Excerpt view={view} found={message} />
          </FoundRow>
        ))}
      </ol>
      {before !== undefined && (
        <Button class="link more-found" disabled={isBusy} onClick={() => void search(query, found)}>
          {t("Search older messages")}
        </Button>
      )}
    </>
  );
}

/** Why nothing was searched. */
export const searchProblem = (error: SendFailure): string =>
  error.code === "INVALID_PAYLOAD" ? t("Look for words, numbers or emoji, 32 at most.") : describeFailure(error);

function outcome(count: number, hasMore: boolean): string {
  if (count === 0) return hasMore ? t("Nothing so far.") : t("Nothing found.");
  return hasMore ? tn(count, "{n} or more found", "{n} or more found") : tn(count, "{n} found", "{n} found");
}

/** Of a message in the room on the screen. */
export function Excerpt({ view, found: { id, editedAt, matches } }: ViewProps & { readonly found: FoundPlace }) {
  const message = view.messageOf(id);
  // A deleted one still leads to its place.
  if (message === null) return <span class="excerpt gone">{t("Message deleted")}</span>;
  const content = message?.content ?? "…";
  // After an edit the places of the matches are others.
  const isAsFound = message?.editedAt === editedAt;
  return <Marked parts={excerptOf({ content, matches: isAsFound ? matches : [] }, view.people.labelledIn(content))} />;
}
