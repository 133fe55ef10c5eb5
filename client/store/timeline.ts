// The loaded part of the room's history in the order of `seq`, and the user's outgoing messages. It ends at the newest message, or,
// after a jump back, somewhere before it. Pure state: room-parts.ts and history.ts update it.
import type {
  Message,
  MessageDeleted,
  MessageEdited,
  NotShown,
  Reaction,
  ReactionSummary,
} from "../../src/protocol/chat-events.ts";
import { canonicalEmoji } from "../../src/protocol/text/characters.ts";
import type { Gap } from "../core/api.ts";
import type { Outgoing } from "./state.ts";

/** New messages, and ranges of those that were not shown, kept while an older part of the history is shown; the others are loaded again. */
const TAIL_MAX = 200;

export class Timeline {
  /** Whether the room has messages before the first one here. */
  hasEarlier = false;
  /** Whether the room has messages after the last one here: new ones are held back then. */
  hasLater = false;
  /** Replaced, never changed; so is `outgoing`. */
  messages: readonly Message[] = [];
  outgoing: readonly Outgoing[] = [];
  /** Messages between those here that the room did not show to its crowd, ascending. Replaced, never changed. */
  notShown: readonly NotShown[] = [];
  /** Those, and the newest behind the window. */
  #unshown: readonly NotShown[] = [];
  #tail: readonly Message[] = [];

  find(id: string): Message | undefined {
    const isIt = (message: Message): boolean => message.id === id;
    return this.messages.findLast(isIt) ?? this.#tail.findLast(isIt);
  }

  /** A message that was just posted. */
  add(message: Message, self: string): void {
    this.#settle(message, self);
    if (!this.hasLater) return this.merge([message], self);
    this.#tail = [...this.#tail, message].slice(-TAIL_MAX);
    this.#cover({ from: message.seq, to: message.seq });
  }

  /** Puts a page of the history, without gaps, at its place; messages that are known already are replaced. */
  merge(page: readonly Message[], self: string): void {
    this.#put(page, self);
    if (page.length > 0) this.#cover({ from: page[0]!.seq, to: page.at(-1)!.seq });
  }

  #put(messages: readonly Message[], self: string): void {
    for (const message of messages) this.#settle(message, self);
    this.messages = merged(this.messages, messages);
  }

  /** Puts all that there is of a range at its place. */
  fill(page: readonly Message[], range: NotShown, self: string): void {
    this.#put(page, self);
    this.#cover(range);
  }

  #cover(range: NotShown): void {
    if (this.#unshown.length === 0) return;
    this.#setUnshown(this.#unshown.flatMap((unshown) => outside(unshown, range)));
  }

  #setUnshown(ranges: readonly NotShown[]): void {
    const first = this.messages[0]?.seq ?? Infinity;
    const last = this.hasLater ? (this.messages.at(-1)?.seq ?? 0) : Infinity;
    this.notShown = ranges.filter(({ from, to }) => from > first && to < last);
    // Those before the window, and older ones behind it, are loaded with the pages there.
    this.#unshown = [...this.notShown, ...ranges.filter(({ from }) => from > last).slice(-TAIL_MAX)];
  }

  /** Later messages than those here; without more of them, the window ends at the newest again. */
  mergeLater(page: readonly Message[], hasMore: boolean, self: string): void {
    this.hasLater = hasMore;
    this.merge(page, self);
    if (hasMore) return;
    this.#put(this.#tail, self);
    this.#tail = [];
    this.#setUnshown(this.#unshown);
  }

  /** Shows another part of the history instead. */
  replace(page: readonly Message[], has: { readonly earlier: boolean; readonly later: boolean }, self: string): void {
    // Messages in the tail continue it without a gap only if the tail was in use.
    const newest = this.hasLater ? this.#tail : this.messages;
    this.#tail = has.later ? newest.slice(-TAIL_MAX) : [];
    this.hasEarlier = has.earlier;
    this.hasLater = has.later;
    const last = page.at(-1)?.seq ?? 0;
    // Messages that came while the page was loading.
    this.messages = has.later ? [] : newest.filter(({ seq }) => seq > last);
    this.merge(page, self);
    this.#setUnshown(this.#unshown);
  }

  /** The client skipped messages after the last one here. The window can show the messages before the gap, or those after it. */
  leaveOut({ from, to, reason }: Gap, following: boolean): void {
    if (reason === "missing" || this.messages.length === 0) return;
    if (reason === "not shown") {
      this.#setUnshown([...this.#unshown, { from, to }]);
      // The user's own messages among them are here.
      for (const { seq } of [...this.messages, ...this.#tail]) if (seq >= from) this.#cover({ from: seq, to: seq });
      return;
    }
    if (following || this.hasLater) this.#tail = [];
    if (this.hasLater) return;
    if (following) {
      this.messages = this.messages.filter(({ seq }) => seq > to);
      this.hasEarlier = true;
      this.#setUnshown([]);
    } else {
      this.#tail = [];
      this.hasLater = true;
      this.#setUnshown(this.#unshown);
    }
  }

  /**
   * The room has stored an outgoing message. If the room's own copy came first, that copy stays. A message that was stored long
   * ago has its place further up, and is loaded with its neighbours.
   */
  confirm(message: Message, self: string): void {
    this.#settle(message, self);
    const newest = this.#tail.at(-1) ?? this.messages.at(-1);
    if (message.seq > (newest?.seq ?? 0)) this.add(message, self);
  }

  edit({ id, content, editedAt, by, mentions }: MessageEdited): void {
    this.#change(id, ({ mentions: _mentions, editedBy: _editedBy, ...message }) => ({
      ...message,
      content,
      editedAt,
      ...(by !== message.sender && { editedBy: by }),
      ...(mentions && { mentions }),
    }));
  }

  remove({ id, by }: Pick<MessageDeleted, "id" | "by">): void {
    this.#change(id, ({ seq, room, sender, name, timestamp, clientMsgId }) => ({
      id,
      seq,
      room,
      sender,
      name,
      content: "",
      timestamp,
      deleted: true as const,
      ...(by !== sender && { deletedBy: by }),
      ...(clientMsgId !== undefined && { clientMsgId }),
    }));
  }

  /** @param self the user, who is never left out of those who reacted */
  react(reaction: Pick<Reaction, "id" | "emoji" | "user" | "on" | "count">, self: string): void {
    this.#change(reaction.id, ({ reactions, ...message }) => {
      const left = reacted(reactions ?? [], reaction, self);
      return left.length > 0 ? { ...message, reactions: left } : message;
    });
  }

  /** Messages as they stand now, where they are shown. */
  update(changed: readonly Message[]): void {
    for (const message of changed) this.#change(message.id, () => message);
  }

  /** The room was deleted and created again; unsent messages go to the new one. */
  restart(): void {
    this.messages = [];
    this.#tail = [];
    this.hasEarlier = false;
    this.hasLater = false;
    this.#setUnshown([]);
  }

  /** Adds an outgoing message, or changes it at its place. */
  setOutgoing(outgoing: Outgoing): void {
    const at = this.outgoing.findIndex(({ clientMsgId }) => clientMsgId === outgoing.clientMsgId);
    this.outgoing = at < 0 ? [...this.outgoing, outgoing] : this.outgoing.with(at, outgoing);
  }

  discard(clientMsgId: string): void {
    const left = this.outgoing.filter((outgoing) => outgoing.clientMsgId !== clientMsgId);
    if (left.length < this.outgoing.length) this.outgoing = left;
  }

  /** Forgets the oldest messages beyond `count`; they can be loaded again. */
  keepNewest(count: number): void {
    const excess = this.messages.length - count;
    if (excess <= 0 || this.hasLater) return;
    this.messages = this.messages.slice(excess);
    this.hasEarlier = true;
    this.#setUnshown(this.#unshown);
  }

  #settle({ sender, clientMsgId }: Message, self: string): void {
    if (sender === self && clientMsgId !== undefined) this.discard(clientMsgId);
  }

  #change(id: string, change: (message: Message) => Message): void {
    const changed = (list: readonly Message[]): readonly Message[] => {
      const at = list.findLastIndex((message) => message.id === id);
      return at < 0 ? list : list.with(at, change(list[at]!));
    };
    this.messages = changed(this.messages);
    this.#tail = changed(this.#tail);
  }
}

/** Both ascending by seq; where both have one, the second's. */
function merged(known: readonly Message[], page: readonly Message[]): readonly Message[] {
  const [first] = page;
  if (!first) return known;
  if ((known.at(-1)?.seq ?? 0) < first.seq) return [...known, ...page];
  const all: Message[] = [];
  let at = 0;
  for (const message of page) {
    while (at < known.length && known[at]!.seq < message.seq) all.push(known[at++]!);
    if (known[at]?.seq === message.seq) at++;
    all.push(message);
  }
  while (at < known.length) all.push(known[at++]!);
  return all;
}

/** An event may stand for several reactions in a crowd, of which it names the last: the count is right, and the users are some of them. */
function reacted(
  reactions: readonly ReactionSummary[],
  { emoji, user, on, count }: Pick<Reaction, "emoji" | "user" | "on" | "count">,
  self: string,
): ReactionSummary[] {
  const isSame = (reaction: ReactionSummary): boolean => canonicalEmoji(reaction.emoji) === canonicalEmoji(emoji);
  const before = reactions.find(isSame);
  const others = (before?.users ?? []).filter((known) => known !== user);
  const users = on ? [...others, user] : others;
  // More users than reactions: some have taken theirs back. The user's own is known.
  while (users.length > count) users.splice(users[0] === self && users.length > 1 ? 1 : 0, 1);
  const after = { emoji, count, users };
  if (!before) return count > 0 ? [...reactions, after] : [...reactions];
  return reactions.map((reaction) => (reaction === before ? after : reaction)).filter((reaction) => reaction.count > 0);
}

/** The parts of a range outside of another one. */
function outside({ from, to }: NotShown, other: NotShown): NotShown[] {
  const before = { from, to: Math.min(to, other.from - 1) };
  const after = { from: Math.max(from, other.to + 1), to };
  return [before, after].filter((part) => part.from <= part.to);
}
