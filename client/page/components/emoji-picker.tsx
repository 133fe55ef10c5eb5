// The picker of emoji: for the field, and for reactions to a message. The app draws it while it is open; the page loads its code then, and
// the names and codes of the emoji come while their first row is there.
import { useMemo, useRef, useState } from "preact/hooks";
import { canonicalEmoji } from "parley-rooms/client";

import type { EmojiData } from "../state/emoji.ts";
import type { ChatProps } from "./chat-props.ts";
import { SearchField } from "./controls.tsx";
import { useEmoji } from "./hooks.ts";
import { Popover } from "./popover.tsx";
import { typeInto } from "./type-into.ts";

/** As in overlays.css. */
const COLUMNS = 8;
const TONES = ["none", "light", "medium light", "medium", "medium dark", "dark"];
const HANDS = ["✋", "✋🏻", "✋🏼", "✋🏽", "✋🏾", "✋🏿"];

type Groups = EmojiData["groups"];
type Emoji = Groups[number]["emoji"][number];

export function EmojiPicker({ store, view }: ChatProps) {
  const { liked } = store;
  // The emoji may arrive after it was closed, and before it is gone.
  const last = useRef(store.ui.picking!);
  const { anchor, message } = (last.current = store.ui.picking ?? last.current);
  const [query, setQuery] = useState("");
  const [tone, setTone] = useState(liked.tone);
  const [pointed, setPointed] = useState(-1);
  const [isLost, setLost] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const data = useEmoji(true, () => setLost(true));
  const often = useMemo(() => liked.emoji, []);
  const groups = useMemo(() => groupsOf(data, often, query), [data, query]);
  const rows = useMemo(() => drawGroups(groups, (one) => data?.inTone(one, tone) ?? one.emoji), [groups, tone]);
  const all = groups.flatMap(({ emoji }) => emoji);
  const buttons = (): HTMLElement[] => Array.from(list.current!.querySelectorAll("button"));
  const placeOf = ({ target }: Event): number => buttons().indexOf((target as Element).closest("button")!);
  const close = (): void => store.set({ picking: undefined });

  const pick = (at: number, isKeptOpen: boolean): void => {
    const picked = all[at];
    if (!picked) return;
    const emoji = data?.inTone(picked, tone) ?? picked.emoji;
    liked.take(picked.emoji);
    if (!isKeptOpen) close();
    if (message !== undefined) {
      const { reactions } = view.messageOf(message) ?? {};
      const users = reactions?.find((one) => canonicalEmoji(one.emoji) === emoji)?.users;
      return void view.actions.react(message, emoji, !users?.includes(view.self));
    }
    const focused = (list.current!.getRootNode() as Document | ShadowRoot).activeElement as HTMLElement;
    const draft = anchor.closest(".side-panel, .talk")!.querySelector<HTMLTextAreaElement>(".draft");
    if (draft) typeInto(draft, emoji);
    if (isKeptOpen) focused.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const { key } = event;
    const at = placeOf(event);
    const isSearching = event.target === field.current;
    const isLetter = key.length === 1 && key !== " " && !(event.ctrlKey || event.metaKey || event.altKey);
    const to = at >= 0 ? neighbour(groups, at, key) : key === "ArrowDown" ? 0 : undefined;
    // The letter goes there.
    if (at >= 0 && isLetter) field.current!.focus();
    const isPicking = isSearching && key === "Enter" && query !== "";
    if (isPicking) pick(0, event.shiftKey);
    if (to !== undefined) (buttons()[to] ?? field.current!).focus();
    // Enter would go on in the field that has the focus then.
    if (isPicking || to !== undefined) event.preventDefault();
    if (to !== undefined || isSearching) event.stopPropagation();
  };
  const choose = (chosen: number): void => {
    liked.setTone(chosen);
    setTone(chosen);
  };

  const status = isLost
    ? "The emoji could not be loaded. Open this again."
    : !data
      ? "Loading…"
      : all.length === 0
        ? "No emoji found."
        : "";
  const { emoji, codes: [code] = [] } = all[pointed] ?? {};
  return (
    <Popover
      anchor={anchor}
      label={message === undefined ? "Pick an emoji" : "Pick a reaction"}
      onClose={close}
      class="picker"
    >
      <div class="picker-box" onKeyDown={onKeyDown}>
        <SearchField
          field={field}
          label="Search emoji"
          testId="emoji-search"
          type="text"
          autocomplete="off"
          value={query}
          onText={(text) => {
            setQuery(text);
            setPointed(-1);
            list.current!.scrollTop = 0;
          }}
        />
        {query === "" && data && (
          <div class="emoji-tabs" role="group" aria-label="Groups">
            {data.groups.map(({ name, emoji }, at) => (
              <button
                key={name}
                type="button"
                class="emoji"
                aria-label={name}
                title={name}
                tabIndex={at === 0 ? 0 : -1}
                onClick={() => list.current!.children[at + 1]!.scrollIntoView({ block: "start" })}
              >
                {emoji[0]!.emoji}
              </button>
            ))}
          </div>
        )}
        <div
          ref={list}
          class="emoji-list"
          data-testid="emoji-list"
          onClick={(event) => pick(placeOf(event), event.shiftKey)}
          onPointerOver={(event) => setPointed(placeOf(event))}
          onFocusIn={(event) => setPointed(placeOf(event))}
        >
          {rows}
          <p class="muted none" role="status">
            {status}
          </p>
        </div>
        <div class="picker-foot">
          <span class="muted" aria-hidden="true">
            {code !== undefined && `${emoji} :${code}:`}
          </span>
          <span role="group" aria-label="Skin tone">
            {HANDS.map((hand, at) => (
              <button
                key={hand}
                type="button"
                class="emoji"
                aria-label={TONES[at]}
                aria-pressed={at === tone}
                tabIndex={at === tone ? 0 : -1}
                onClick={() => choose(at)}
              >
                {hand}
              </button>
            ))}
          </span>
        </div>
      </div>
    </Popover>
  );
}

/** All of them after those that the reader takes often, or those that a search finds. */
function groupsOf(data: EmojiData | undefined, often: readonly string[], query: string): Groups {
  if (query !== "") return data ? [{ name: "Found", emoji: data.findEmoji(query) }] : [];
  const known = data?.groups.flatMap(({ emoji }) => emoji);
  const nameless = { hasTones: false, name: "", codes: [], words: [] };
  const taken = often.map((emoji) => known?.find((one) => one.emoji === emoji) ?? { emoji, ...nameless });
  return [{ name: "Often used", emoji: taken }, ...(data?.groups ?? [])];
}

function drawGroups(groups: Groups, toned: (emoji: Emoji) => string) {
  return groups.map((group, at) => (
    <div
      key={group.name}
      role="group"
      aria-label={group.name}
      style={{ "--rows": Math.ceil(group.emoji.length / COLUMNS) }}
    >
      <h3 aria-hidden="true">{group.name}</h3>
      {group.emoji.map((one, index) => (
        <button
          key={one.emoji}
          type="button"
          class="emoji"
          aria-label={one.name || undefined}
          data-testid={`emoji-${one.emoji}`}
          tabIndex={at + index === 0 ? 0 : -1}
          // Nobody translates them: they need no elements for their texts, which texts.ts would give them.
          {...{ textContent: toned(one) }}
        />
      ))}
    </div>
  ));
}

/** Where an arrow key leads from an emoji; -1 above the first row. */
function neighbour(groups: Groups, at: number, key: string): number | undefined {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
  const last = groups.reduce((sum, { emoji }) => sum + emoji.length, 0) - 1;
  if (step !== undefined) return Math.min(Math.max(at + step, 0), last);
  const up = { ArrowUp: -1, ArrowDown: 1 }[key];
  if (up === undefined) return undefined;
  let from = 0;
  const rows = groups.flatMap(({ emoji }) => {
    const starts = Array.from({ length: Math.ceil(emoji.length / COLUMNS) }, (_, row) => from + row * COLUMNS);
    from += emoji.length;
    return starts;
  });
  const row = rows.findLastIndex((start) => start <= at);
  const [to, end = last + 1] = rows.slice(row + up, row + up + 2);
  if (row + up < 0) return -1;
  return to === undefined ? at : Math.min(to + at - rows[row]!, end - 1);
}
