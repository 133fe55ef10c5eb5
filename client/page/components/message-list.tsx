// The message list: it draws only the rows in view, keeps the row that the reader looks at in place while rows change above or
// below, and stays at the newest message while the reader is there. The app draws it.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Message, readersOf } from "parley-rooms/client";

import { t } from "../state/language.ts";
import { RowLayout } from "../state/row-layout.ts";
import { rowsOf, type Row } from "../state/rows.ts";
import type { ChatStore } from "../state/chat-store.ts";
import type { RoomView } from "../state/room-view.ts";
import { dayTitle } from "../state/times.ts";
import type { ChatProps } from "./chat-props.ts";
import { Button } from "./controls.tsx";
import { useGestures, useNow, usePulse } from "./hooks.ts";
import {
  anchorAt,
  isAtEnd,
  isFollowing,
  isShown,
  keepFocus,
  measure,
  movementOf,
  OVERSCAN,
  Place,
  settle,
  sizeOf,
  tabStopOf,
  topOf,
} from "./list-place.ts";
import { NewestButton, NewsBar } from "./newest.tsx";
import { isHovering } from "./keys.ts";
import { onRowKey, onRowsCopied, rowOf } from "./row-keys.ts";
import { RowView } from "./row-view.tsx";

/** Pixels beyond the view from which on more is loaded. */
const LOAD_AHEAD = 1200;
/** Where the first new message stands when the room is opened: below the bar and the "New" line; pixels. */
const NEWS_OFFSET = 100;
/** "Today" becomes "Yesterday". */
const DAYS_EVERY_MS = 60_000;
/** So long after the last movement the day of the messages in view goes. */
const DAY_SHOWN_MS = 1200;
const NONE: readonly Message[] = [];
/** The height of a row before it is measured; pixels. */
const GUESSES: Readonly<Record<Row["kind"], number>> = {
  beginning: 120,
  day: 44,
  unread: 32,
  "not-shown": 44,
  message: 44,
  outgoing: 60,
};

export function MessageList({ store, view }: ChatProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLOListElement>(null);
  const place = useMemo(() => new Place(), [view]);
  const isInView = useRef(false);
  const [, redraw] = useState(0);
  const again = (): void => redraw((count) => count + 1);
  const [pointed, setPointed] = useState("");
  const [focused, setFocused] = useState("");
  const [isDayHeld, holdDay] = useState(false);
  const [isScrolling, noteScrolling] = usePulse(DAY_SHOWN_MS);
  useNow(DAYS_EVERY_MS);
  const now = view.store.now();
  const { state, self } = view;
  const { unreadAfter, target, news } = state.reading;
  const { stored, outgoing, hasLater, notShown, isLoaded, isOpening, loading } = state.messages;
  const isComing = !isLoaded && view.connection.kind !== "stopped";
  // Until the first page of history has arrived, new messages have no place.
  const messages = isOpening ? NONE : stored;
  const hasEarlier = state.messages.hasEarlier || !isLoaded;
  // Kept between draws: while the reader scrolls, only heights change.
  const rows = useMemo(
    () => rowsOf({ messages, outgoing, hasEarlier, hasLater, notShown, self, unreadAfter }),
    [view, messages, outgoing, hasEarlier, hasLater, notShown, self, unreadAfter],
  );
  const indexes = useMemo(() => new Map(rows.map(({ key }, index) => [key, index])), [rows]);
  const layout = useMemo(
    () => new RowLayout(rows.length, (at) => place.heights.get(rows[at]!.key) ?? GUESSES[rows[at]!.kind]),
    [rows, place.version],
  );
  const isNewTarget = target !== undefined && target !== place.target;
  const viewHeight = scroller.current?.clientHeight ?? innerHeight;
  if (isNewTarget) {
    place.target = target;
    const backAt = store.standing.takeBack(target.seq);
    place.isBack = backAt !== undefined;
    place.anchor = { key: `m${target.seq}`, offset: backAt ?? (target.isUnread ? NEWS_OFFSET : viewHeight / 3) };
  }
  const anchored = place.anchor && indexes.get(place.anchor.key);
  const top = topOf(layout, place.anchor, state.reading.following ? undefined : anchored, viewHeight);
  const range = layout.between(top - OVERSCAN, top + viewHeight + OVERSCAN);
  const drawn = rows.slice(range.from, range.to);
  const tabStop = tabStopOf(drawn, focused, rows[layout.at(top + viewHeight - 1)]);
  view.shownDay = state.reading.following ? undefined : dayAt(rows, layout.at(top + viewHeight / 2));
  const readers = readersOf(state.readMarks, messages, self);

  const anchorHere = () => anchorAt(layout, rows, scroller.current!, list.current!);
  const hear = (moved: number): void => {
    place.heard(scroller.current!.scrollTop);
    const { following, target: wanted } = view.state.reading;
    // An event of an earlier scroll may come before the list has shown the message that the reader jumps to.
    const isJumping = wanted !== undefined && wanted !== place.target;
    if (!isJumping) view.store.follow(isFollowing(scroller.current!, moved, following));
    if (moved === 0) return;
    noteScrolling();
    again();
  };
  const keepPlace = (): void => {
    // The browser reports the pointer before it reports the scroll.
    const moved = movementOf(scroller.current!, place);
    if (moved !== 0) {
      const { anchor } = place;
      place.anchor = view.state.reading.following
        ? anchorHere()
        : anchor && { ...anchor, offset: anchor.offset - moved };
      hear(moved);
    }
    const { following } = view.state.reading;
    const shown = [rows, place.version, following, target];
    if (sizeOf(scroller.current!) === place.size && shown.every((part, at) => part === place.settled[at])) return;
    place.settled = shown;
    settle(scroller.current!, list.current!, place, following);
  };
  const keeping = useRef(keepPlace);
  keeping.current = keepPlace;
  useLayoutEffect(() => {
    if (!isShown(scroller.current!)) {
      place.size = "";
      return;
    }
    const isMeasured = measure(list.current!, place.heights);
    if (isMeasured) place.version++;
    keepPlace();
    // In a list too short to scroll, and where the news fit below what was there, the newest message is in view.
    if (!view.state.reading.following && !hasLater && isAtEnd(scroller.current!)) view.store.follow(true);
    const isFocusHere = keepFocus(scroller.current!, list.current!, place);
    if (!isFocusHere && !isBorrowed(store)) setFocused("");
    if (isMeasured) again();
  });
  useEffect(() => {
    const watching = new ResizeObserver(again);
    watching.observe(scroller.current!);
    watching.observe(list.current!);
    const look = (): void => {
      view.look(isInView.current && document.visibilityState === "visible");
      // The reader now sees messages that came while the page was hidden.
      again();
    };
    document.addEventListener("visibilitychange", look);
    const seeing = new IntersectionObserver((changes) => {
      isInView.current = changes.at(-1)!.isIntersecting;
      look();
    });
    seeing.observe(scroller.current!);
    look();
    // The composer resizes while the reader types, before anything is drawn. Runs after the composer's own listeners.
    const onInput = (): void =>
      queueMicrotask(() => scroller.current && isShown(scroller.current) && keeping.current());
    const leave = (): void => {
      const { key = "", offset = 0 } = place.anchor ?? {};
      const [, seq] = /^m(\d+)$/.exec(key) ?? [];
      const isElsewhere = !view.state.reading.following && seq !== undefined;
      store.standing.leave(view.room, isElsewhere ? { seq: Number(seq), offset } : undefined);
    };
    // A reload leaves the room, too.
    addEventListener("pagehide", leave);
    const talk = scroller.current!.closest(".talk")!;
    talk.addEventListener("input", onInput);
    return () => {
      talk.removeEventListener("input", onInput);
      watching.disconnect();
      seeing.disconnect();
      document.removeEventListener("visibilitychange", look);
      removeEventListener("pagehide", leave);
      leave();
    };
  }, [view]);
  useGestures(list, { store, view, composing: view.composing });
  useEffect(() => {
    if (!isShown(scroller.current!)) return;
    loadMore(scroller.current!, view);
    if (isInView.current && isLoaded) reportSeen(view, scroller.current!, list.current!);
  });

  const onScroll = (): void => {
    // The reader did not scroll, so their place is restored.
    if (sizeOf(scroller.current!) !== place.size) return again();
    place.anchor = anchorHere();
    hear(movementOf(scroller.current!, place));
  };
  const onFocusIn = (event: FocusEvent): void => {
    place.focus = event.target as Element;
    const row = rowOf(event);
    // After the click that gave the focus: the tools of a tapped message would move its links from under the finger.
    requestAnimationFrame(() => setFocused(row));
  };

  return (
    <div class="log-frame">
      <div
        ref={scroller}
        class="log"
        role="region"
        aria-label={t("Messages")}
        tabIndex={0}
        data-testid="log"
        onScroll={onScroll}
        aria-busy={loading !== undefined || isComing}
      >
        {isComing && rows.length === 0 && <Skeleton />}
        <ol
          ref={list}
          class="messages"
          data-testid="messages"
          style={{
            paddingTop: `${layout.topOf(range.from)}px`,
            paddingBottom: `${layout.height - layout.topOf(range.to)}px`,
          }}
          // A finger that scrolls points at no message; a tap gives the focus. Where fingers are usual, a mouse does the same: the tools of a
          // message stand below it there, and would move the others while the mouse passes.
          onPointerOver={(event) =>
            event.pointerType !== "touch" && isHovering() && setPointed(rowOf(event) || pointed)
          }
          onPointerLeave={() => setPointed("")}
          onFocusIn={onFocusIn}
          // The next focus is known in the next frame.
          onFocusOut={() => requestAnimationFrame(again)}
          onKeyDown={(event) => onRowKey(event, { store, view, composing: view.composing })}
          onCopy={(event) => onRowsCopied(event, { view, composing: view.composing })}
        >
          {drawn.map((row) => (
            <RowView
              key={row.key}
              {...{ store, view, row, now }}
              composing={view.composing}
              isTabStop={row.key === tabStop}
              isActive={row.key === pointed || row.key === focused}
              hasFocus={row.key === focused}
              isTarget={target !== undefined && !target.isUnread && !place.isBack && row.key === `m${target.seq}`}
              readers={row.kind === "message" ? (readers.get(row.message.seq) ?? []) : []}
            />
          ))}
        </ol>
      </div>
      {(isScrolling || isDayHeld) && !news && (
        <DayChip store={store} rows={rows} first={layout.at(top)} now={now} hold={holdDay} />
      )}
      {isLoaded && news && <NewsBar view={view} now={now} />}
      {isLoaded && !news && (!state.reading.following || hasLater) && <NewestButton view={view} />}
      {loading === "earlier" && <p class="loading-earlier">{t("Loading earlier messages…")}</p>}
    </div>
  );
}

interface DayChipProps extends Pick<ChatProps, "store"> {
  readonly rows: readonly Row[];
  /** The index of the first row in view. */
  readonly first: number;
  readonly now: number;
  /** It stays while the reader points at it. */
  readonly hold: (isHeld: boolean) => void;
}

/** The day of the messages in view, which leads to others. Its heading in the list says the same to those who hear the page. */
function DayChip({ store, rows, first, now, hold }: DayChipProps) {
  const at = dayAt(rows, first);
  return at === undefined ? null : (
    <p class="day-chip" aria-hidden="true">
      <Button
        class="day-button"
        testId="day"
        tabIndex={-1}
        onPointerEnter={() => hold(true)}
        onPointerLeave={() => hold(false)}
        onClick={() => store.set({ dialog: { kind: "date", at } })}
      >
        {dayTitle(at, now)}
      </Button>
    </p>
  );
}

/** A moment of the day to which a row belongs. */
function dayAt(rows: readonly Row[], index: number): number | undefined {
  const day = rows.findLast(({ kind }, at) => at <= index && kind === "day");
  return day?.kind === "day" ? day.at : undefined;
}

function Skeleton() {
  return (
    <div class="skeleton" aria-hidden="true">
      {[60, 85, 40, 70, 55].map((width) => (
        <span key={width} style={{ width: `${width}%` }} />
      ))}
    </div>
  );
}

/** A menu, picker or dialog that a row opened gives the focus back to it. */
const isBorrowed = ({ ui }: ChatStore): boolean => Boolean(ui.menu ?? ui.picking ?? ui.dialog);

function loadMore({ scrollTop, scrollHeight, clientHeight }: HTMLElement, view: RoomView): void {
  if (scrollTop < LOAD_AHEAD) void view.store.loadEarlier();
  if (scrollHeight - scrollTop - clientHeight < LOAD_AHEAD) void view.store.loadLater();
}

/** Reports the last message in view as read. Looks at the drawn rows, because heights may still be guessed. */
function reportSeen({ store }: RoomView, scroller: HTMLElement, list: HTMLElement): void {
  if (document.visibilityState !== "visible") return;
  const { bottom } = scroller.getBoundingClientRect();
  for (let at = list.children.length - 1; at >= 0; at--) {
    const item = list.children[at] as HTMLElement;
    if (item.dataset["seq"] === undefined || item.getBoundingClientRect().top >= bottom) continue;
    return store.markRead(Number(item.dataset["seq"]));
  }
}
