// The picker of emoji: for the field, and for reactions to a message. The app draws it while it is open; the page loads its code then, and
// the names and codes of the emoji come while their first row is there.
import { useMemo, useRef, useState } from "preact/hooks";
import { canonicalEmoji } from "parley-rooms/client";

import type { EmojiData } from "../state/emoji.ts";
import { direction, phrase, t } from "../state/language.ts";
import type { ChatProps } from "./chat-props.ts";
import { SearchField } from "./controls.tsx";
import { useEmoji } from "./hooks.ts";
import { Popover } from "./popover.tsx";
import { typeInto } from "./type-into.ts";

/** As in overlays.css. */
const COLUMNS = 8;
/** In the order of the data. */
const GROUPS = [
  phrase("Smileys & emotion"),
  phrase("People & body"),
  phrase("Animals & nature"),
  phrase("Food & drink"),
  phrase("Travel & places"),
  phrase("Activities"),
  phrase("Objects"),
  phrase("Symbols"),
  phrase("Flags"),
];
const TONES = [
  phrase("none"),
  phrase("light"),
  phrase("medium light"),
  phrase("medium"),
  phrase("medium dark"),
  phrase("dark"),
];
const HANDS = ["✋", "✋🏻", "✋🏼", "✋🏽", "✋🏾", "✋🏿"];

type Emoji = EmojiData["groups"][number][number];
type Groups = ReadonlyArray<{ readonly name: string; readonly emoji: readonly Emoji[] }>;

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
    ? t("The emoji could not be loaded. Open this again.")
    : !data
      ? t("Loading…")
      : all.length === 0
        ? t("No emoji found.")
        : "";
  const { emoji, codes: [code] = [] } = all[pointed] ?? {};
  return (
    <Popover
      anchor={anchor}
      label={message === undefined ? t("Pick an emoji") : t("Pick a reaction")}
      onClose={close}
      class="picker"
    >
      <div class="picker-box" onKeyDown={onKeyDown}>
        <SearchField
          field={field}
          label={t("Search emoji")}
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
          <div class="emoji-tabs" role="group" aria-label={t("Groups")}>
            {groups.slice(1).map(({ name, emoji }, at) => (
              <button
                key={name}
                type="button"
                class="emoji"
                aria-label={t(name)}
                title={t(name)}
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
          <span role="group" aria-label={t("Skin tone")}>
            {HANDS.map((hand, at) => (
              <button
                key={hand}
                type="button"
                class="emoji"
                aria-label={t(TONES[at]!)}
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

/** All of them after those that the reader took last, or those that a search finds. */
function groupsOf(data: EmojiData | undefined, often: readonly string[], query: string): Groups {
  if (query !== "") return data ? [{ name: phrase("Found"), emoji: data.findEmoji(query) }] : [];
  const known = data?.groups.flat();
  const nameless = { hasTones: false, name: "", codes: [], words: [] };
  const taken = often.map((emoji) => known?.find((one) => one.emoji === emoji) ?? { emoji, ...nameless });
  return [
    { name: phrase("Often used"), emoji: taken },
    ...(data?.groups ?? []).map((emoji, at) => ({ name: GROUPS[at]!, emoji })),
  ];
}

function drawGroups(groups: Groups, toned: (emoji: Emoji) => string) {
  return groups.map((group, at) => (
    <div
      key={group.name}
      role="group"
      aria-label={t(group.name)}
      style={{ "--rows": Math.ceil(group.emoji.length / COLUMNS) }}
    >
      <h3 aria-hidden="true">{t(group.name)}</h3>
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
  const forward = direction() === "rtl" ? "ArrowLeft" : "ArrowRight";
  const step = key === "ArrowLeft" || key === "ArrowRight" ? (key === forward ? 1 : -1) : undefined;
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
