// The search of the page: besides that of an embed, what the reader looks for in all of their rooms, found room by room, each with a way there. The
// page loads it when it is wanted.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { createRoomsSearch, type FoundIn, type RoomsQuery, type RoomsSearch } from "parley-rooms/client";

import { coversMessages } from "../layers.ts";
import { excerptOf } from "../state/excerpt.ts";
import { numberText, t, tn, tx } from "../state/language.ts";
import type { Sought } from "../state/open-parts.ts";
import { peopleIn } from "../state/people.ts";
import type { RoomDirectory } from "../state/room-directory.ts";
import { titleOf } from "../state/room-items.ts";
import type { ChatProps } from "./chat-props.ts";
import { Button } from "./controls.tsx";
import { FoundRow, Marked } from "./found-row.tsx";
import { Excerpt, searchProblem, SearchPanel } from "./search-panel.tsx";

/** Messages of the room on the screen at first, as of the others. */
const FOUND_LIMIT = 5;

interface Kept {
  readonly search: RoomsSearch;
  /** What the search has begun to look for. */
  sought?: Sought;
  /** Whether the list of the reader's rooms was there then. */
  isListed?: boolean;
}

/** The panel may be closed and opened again, as on a phone, which shows one of both, messages or panel. A reader's search goes with their rooms. */
const kept = new WeakMap<RoomDirectory, Kept>();

function keptOf(store: ChatProps["store"]): Kept {
  const directory = store.directory!;
  const known = kept.get(directory);
  if (known) return known;
  const rooms = (): string[] => [...new Set([store.view!.room, ...directory.own.map(({ room }) => room)])];
  const own = { search: (query: RoomsQuery) => searchIn(store, query), getSnapshot: () => undefined };
  const made = { search: createRoomsSearch(own, rooms) };
  kept.set(directory, made);
  return made;
}

/** The room on the screen is awake, and answers by itself: the list of the reader's rooms may not know it yet. */
async function* searchIn({ view, directory }: ChatProps["store"], query: RoomsQuery): AsyncIterable<FoundIn> {
  const { rooms = [], signal, ...sought } = query;
  const here = rooms.find((room) => room === view?.room);
  if (here !== undefined) {
    const answer = await view!.store.search({ limit: FOUND_LIMIT, ...sought });
    yield { room: here, ...answer };
  }
  if (!signal?.aborted) yield* directory!.search({ ...query, rooms: rooms.filter((room) => room !== here) });
}

type Good = Extract<FoundIn, { readonly messages: unknown }>;
type Failed = Extract<FoundIn, { readonly error: unknown }>;

export const PageSearch = (props: ChatProps) => <SearchPanel {...props} everywhere={FoundEverywhere} />;

function FoundEverywhere({ store, view }: ChatProps) {
  const here = keptOf(store);
  const { search } = here;
  const [{ found, isBusy, left }, setState] = useState(search.getSnapshot);
  const { sought, directory } = store;
  const isListed = directory?.joined !== undefined;
  useEffect(() => {
    const end = search.subscribe(() => setState(search.getSnapshot()));
    return () => {
      end();
      search.stop();
    };
  }, [search]);
  useEffect(() => {
    // Without the list, the room on the screen alone was searched.
    if (!sought || (here.sought === sought && here.isListed === isListed)) return;
    Object.assign(here, { sought, isListed });
    // A mention is an id in the rooms.
    if (sought.query !== "") void search.search(view.people.withIds(sought.query));
  }, [sought, isListed]);
  if (!sought || sought.query === "")
    return <Status text={t("Asks 20 rooms at a time, those with the newest messages first.")} />;
  const next = Math.min(left, 20);
  const good = found.filter((one): one is Good => "messages" in one);
  const failed = found.filter((one): one is Failed => "error" in one);
  const hits = good.filter(({ messages }) => messages.length > 0);
  const count = hits.reduce((sum, { messages }) => sum + messages.length, 0);
  const [all, some] = [numberText(count), numberText(hits.length)];
  const problems = [...new Set(failed.map(({ error }) => searchProblem(error)))];
  // Most likely the words themselves.
  const problemOfAll = good.length === 0 && problems.length === 1 ? problems[0] : undefined;
  const outcome =
    good.length === 0
      ? (problemOfAll ?? "")
      : count === 0
        ? tn(good.length, "Nothing found in {n} room.", "Nothing found in {n} rooms.")
        : tn(found.length, "{count} found in {some} of {n} room", "{count} found in {some} of {n} rooms", {
            count: all,
            some,
          });
  return (
    <>
      <Status
        text={
          isBusy
            ? tn(
                found.length,
                "Searching… {count} found in {n} room so far",
                "Searching… {count} found in {n} rooms so far",
                { count: all },
              )
            : outcome
        }
      >
        {isBusy && (
          <Button testId="stop-search" onClick={() => search.stop()}>
            {t("Stop")}
          </Button>
        )}
      </Status>
      <div data-testid="found-everywhere">
        {hits.map((one) => (
          <RoomGroup key={one.room} {...{ store, view, search, isBusy }} found={one} />
        ))}
      </div>
      {failed.length > 0 && !isBusy && (
        <div class="found-failed" data-testid="found-failed">
          {problemOfAll === undefined && (
            <>
              <p>{t("Not searched:")}</p>
              <ul>
                {failed.map(({ room, error }) => (
                  <li key={room}>
                    <bdi>{titleOf(room, store.known(room))}</bdi>: {searchProblem(error)}
                  </li>
                ))}
              </ul>
            </>
          )}
          <Button onClick={() => void search.retry()}>{t("Try again")}</Button>
        </div>
      )}
      {left > 0 && !isBusy && problemOfAll === undefined && (
        <Button class="link more-found" testId="more-rooms" onClick={() => void search.more()}>
          {tn(next, "Search {n} more room", "Search {n} more rooms")}
        </Button>
      )}
    </>
  );
}

interface GroupProps extends ChatProps {
  readonly search: RoomsSearch;
  readonly isBusy: boolean;
  readonly found: Good;
}

function RoomGroup({ store, view, search, isBusy, found: { room, messages, hasMore } }: GroupProps) {
  const people = useMemo(() => peopleIn(messages, store.reader), [messages]);
  const title = titleOf(room, store.known(room));
  const enter = (): void => {
    if (coversMessages()) store.open(undefined);
    store.enter(room);
  };
  return (
    <section class="found-room" aria-label={title}>
      <h3>
        <Button class="found-in" onClick={enter}>
          <bdi>{title}</bdi>
        </Button>
      </h3>
      <ol class="found">
        {messages.map((message) => (
          <FoundRow key={message.id} {...{ store, view }} found={message}>
            {room === view.room ? (
              <Excerpt view={view} found={message} />
            ) : (
              <Marked parts={excerptOf(message, people.labelledIn(message.content))} />
            )}
          </FoundRow>
        ))}
      </ol>
      {hasMore && (
        <Button class="link more-found" disabled={isBusy} onClick={() => void search.moreIn(room)}>
          {tx("More in {room}", { room: <bdi>{title}</bdi> })}
        </Button>
      )}
    </section>
  );
}

function Status({ text, children }: { readonly text: string; readonly children?: ComponentChildren }) {
  return (
    <p class="muted none">
      <span role="status" data-testid="search-outcome">
        {text}
      </span>{" "}
      {children}
    </p>
  );
}
