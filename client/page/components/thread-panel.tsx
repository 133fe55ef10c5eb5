// The panels of threads: one with its messages and a composer of its own, and the list of those in which the reader takes part. The app loads
// them when one is opened.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { fileNamesOf, lineOf, type Message, type Thread } from "parley-rooms/client";

import { coversMessages } from "../layers.ts";
import { t, tn } from "../state/language.ts";
import { bare } from "../state/names.ts";
import { describeFailure } from "../state/room-answers.ts";
import { rowsOf, type Row } from "../state/rows.ts";
import { briefTime, exactTime } from "../state/times.ts";
import { Avatar } from "./avatar.tsx";
import type { ChatProps } from "./chat-props.ts";
import { Composer } from "./composer.tsx";
import { Button, IconButton } from "./controls.tsx";
import { useGestures } from "./hooks.ts";
import { isHovering } from "./keys.ts";
import { onRowKey, onRowsCopied, rowOf } from "./row-keys.ts";
import { RowView } from "./row-view.tsx";
import { SidePanel } from "./side-panel.tsx";
import { repliesText } from "./thread-line.tsx";

/** Pixels from the end at which the reader still follows new replies. */
const END_SLACK = 40;
const NOTHING = { hasEarlier: true, hasLater: false, notShown: [], outgoing: [], unreadAfter: undefined } as const;

export function ThreadPanel({ store, view }: ChatProps) {
  const id = store.thread!;
  const composing = view.composingIn(id);
  const { thread, first, replies, hasEarlier, isLoading, problem } = view.store.threads.of(id);
  const scroller = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const [focused, setFocused] = useState("");
  const [pointed, setPointed] = useState("");
  /** What was new when the thread was opened. */
  const news = useRef<number>(undefined);
  if (thread && news.current === undefined) news.current = thread.unread > 0 ? thread.seenSeq : Infinity;
  const { self, state } = view;
  const outgoing = useMemo(
    () => state.messages.outgoing.filter(({ replyTo }) => replyTo !== undefined && isOf(replyTo, id, replies)),
    [state.messages.outgoing, replies],
  );
  const head = useMemo(() => rowsOf({ ...NOTHING, messages: first ? [first] : [], self }), [first, self]);
  const rows = useMemo(
    () =>
      rowsOf({ ...NOTHING, messages: replies, outgoing, self, unreadAfter: news.current, thread: id, above: first }),
    [replies, outgoing, first, self, thread === undefined],
  );
  const tabStop = focused || rows.at(-1)?.key || head.at(-1)?.key;
  const row = (row: Row) => (
    <RowView
      key={row.key}
      {...{ store, view, composing, row }}
      now={view.store.now()}
      isTabStop={row.key === tabStop}
      isActive={row.key === pointed || row.key === focused}
      hasFocus={row.key === focused}
      isTarget={false}
      readers={[]}
    />
  );
  const look = (): void => {
    // Not before it is drawn, with the line above what is new.
    if (news.current !== undefined && isAtEnd.current && document.visibilityState === "visible")
      view.store.threads.markRead(id);
  };
  const noteEnd = (): void => {
    const { scrollTop, scrollHeight, clientHeight } = scroller.current!;
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < END_SLACK;
  };
  useLayoutEffect(() => {
    const { current: box } = scroller;
    // After each draw: cards of links and tools make rows higher, and a long draft the list lower.
    if (box && isAtEnd.current) box.scrollTop = box.scrollHeight;
  });
  // The reader begins with what is new.
  useLayoutEffect(() => {
    if (!thread) return;
    scroller.current?.querySelector(".unread")?.scrollIntoView({ block: "nearest" });
    noteEnd();
  }, [thread === undefined]);
  useGestures(scroller, { store, view, composing });
  useEffect(look);
  useEffect(() => {
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
  const onScroll = (): void => {
    noteEnd();
    look();
  };
  const onFocusIn = (event: FocusEvent): void => {
    const row = rowOf(event);
    // After the click that gave the focus, as in the stream: the tools would move the link or quote that is tapped.
    requestAnimationFrame(() => setFocused(row));
  };
  /** A quoted reply is shown here, if it is here; otherwise in the stream, which the panel may cover. */
  const onQuote = (event: MouseEvent): void => {
    const quote = (event.target as Element).closest<HTMLElement>(".quote[data-to]");
    if (!quote) return;
    const row = scroller.current!.querySelector<HTMLElement>(`[data-seq="${quote.dataset["to"]}"]`);
    if (!row) return void (coversMessages() && store.open(undefined));
    event.stopPropagation();
    row.scrollIntoView({ block: "nearest" });
    row.focus({ preventScroll: true });
  };
  const following = thread?.following === true;
  const follow = (): void => void view.actions.done(t("That was not done."), view.store.threads.follow(id, !following));
  return (
    <SidePanel
      store={store}
      title={t("Thread")}
      tools={
        <>
          {thread && (
            <IconButton
              icon={following ? "bell" : "muted"}
              label={following ? t("Following: new replies are counted") : t("Follow this thread")}
              testId="follow-thread"
              pressed={following}
              onClick={follow}
            />
          )}
          <IconButton
            icon="thread"
            label={t("All threads")}
            testId="all-threads"
            onClick={() => store.open("threads")}
          />
        </>
      }
    >
      <div
        ref={scroller}
        class="thread-log"
        role="region"
        aria-label={t("Messages of the thread")}
        aria-busy={isLoading}
        tabIndex={0}
        data-testid="thread"
        onScroll={onScroll}
        onClickCapture={onQuote}
        onPointerOver={(event) => event.pointerType !== "touch" && isHovering() && setPointed(rowOf(event) || pointed)}
        onPointerLeave={() => setPointed("")}
        onFocusIn={onFocusIn}
        onKeyDown={(event) => onRowKey(event, { store, view, composing })}
        onCopy={(event) => onRowsCopied(event, { view, composing })}
      >
        {thread && !first && <p class="muted none">{t("The room does not keep the first message any more.")}</p>}
        <ol class="messages">{head.map(row)}</ol>
        <p class="thread-count muted" role="status">
          {problem
            ? problem.code === "NOT_FOUND"
              ? t("The first message is gone.")
              : `${t("The thread could not be loaded.")} ${describeFailure(problem)}`
            : thread
              ? thread.replies === 0
                ? t("No replies yet.")
                : repliesText(thread.replies)
              : t("Loading…")}
        </p>
        {(problem !== undefined || hasEarlier) && (
          <Button class="link more-found" disabled={isLoading} onClick={() => void view.store.threads.load(id)}>
            {problem ? t("Try again") : t("Earlier replies")}
          </Button>
        )}
        <ol class="messages" data-testid="replies">
          {rows.map(row)}
        </ol>
      </div>
      <Composer key={`thread ${id}`} {...{ store, view, composing }} />
    </SidePanel>
  );
}

/** Whether a reply to that message belongs to the thread. */
const isOf = (replyTo: string, thread: string, replies: readonly Message[]): boolean =>
  replyTo === thread || replies.some(({ id }) => id === replyTo);

export function ThreadList({ store, view }: ChatProps) {
  const { threads, problem } = view.store.threads.own;
  const newFirst = threads.toSorted((a, b) => Number(b.unread > 0) - Number(a.unread > 0));
  const status = problem
    ? `${t("The threads could not be loaded.")} ${describeFailure(problem)}`
    : threads.length === 0
      ? t("Threads that you write in or follow are listed here.")
      : "";
  return (
    <SidePanel store={store} title={t("Threads")}>
      <p class="muted none" role="status" data-testid="threads-status">
        {status}
      </p>
      <ol class="found" data-testid="threads">
        {newFirst.map((thread) => (
          <ThreadItem key={thread.id} {...{ store, view, thread }} />
        ))}
      </ol>
      {problem && (
        <Button class="link more-found" onClick={() => void view.store.threads.refresh()}>
          {t("Try again")}
        </Button>
      )}
    </SidePanel>
  );
}

function ThreadItem({ store, view, thread }: ChatProps & { readonly thread: Thread }) {
  const { id, first, last, replies, unread } = thread;
  const { sender = "", name = "" } = first ?? last ?? {};
  return (
    <li>
      <button type="button" data-testid="thread-item" onClick={() => store.openThread(id)}>
        <Avatar user={sender} name={name} small />
        <span class="found-head">
          <bdi>{bare(name)}</bdi>{" "}
          {last && <time title={exactTime(last.timestamp)}>{briefTime(last.timestamp, view.store.now())}</time>}
        </span>
        <span class="excerpt" dir="auto">
          {first ? wordsOf(view, first) : t("The first message is gone.")}
        </span>
        <span class="thread-facts muted">
          {repliesText(replies)} {unread > 0 && <span class="badge">{tn(unread, "{n} new", "{n} new")}</span>}
        </span>
      </button>
    </li>
  );
}

const wordsOf = ({ people }: ChatProps["view"], message: Message): string =>
  message.deleted ? t("Message deleted") : lineOf(people.withNames(message.content)) || fileNamesOf(message);
